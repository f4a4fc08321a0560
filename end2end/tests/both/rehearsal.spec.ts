// An admin rehearses a sale: made-up shoppers buy a copy of it, and the report says whether every promise was kept.
import { expect, test } from '../../fixtures';
import { open, ready, signInAsAdmin } from '../../verbs';
import { say } from '../../words';

test('an admin rehearses a sale, watches, and reads whether every promise was kept', async ({
  page,
  program,
  admin,
}) => {
  const sale = await admin.createSale({ stock: 20 });
  await signInAsAdmin(page, program);
  await open(page, `/admin/sales/${sale}`);
  await page.getByRole('link', { name: say('rehearse-sale') }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(say('rehearsals'));
  await ready(page);
  await expect(page.getByLabel(say('field-voucher-id'))).toHaveValue(`${sale}`);
  await expect(page.getByLabel(say('field-units'))).toHaveValue('20');
  await page.getByLabel(say('field-shoppers')).fill('60');
  await page.getByLabel(say('field-seconds')).fill('2');
  await page.getByRole('button', { name: say('rehearse') }).click();

  // A sale runs: that has to be wanted.
  await expect(page.getByText(say('rehearsal-in-use'))).toBeVisible();
  await ready(page);
  await expect(page.getByLabel(say('field-shoppers'))).toHaveValue('60');
  await page.getByLabel(say('field-on-production')).check();
  await page.getByRole('button', { name: say('rehearse') }).click();
  await page.waitForURL(/\/admin\/rehearsals\/\d+$/);
  await expect(page.getByText(say('rehearsal-held'))).toBeVisible({ timeout: 30_000 });
  await ready(page);
  for (const word of ['oversold', 'undersold', 'duplicates', 'drift', 'broken']) {
    await expect(page.locator(`[data-verdict=${word}] dd`)).toHaveText('0');
  }
  await expect(page.locator('.charts svg[role=img]')).toHaveCount(4);
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.setViewportSize({ width: 360, height: 740 });
  await ready(page);
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  expect(width).toBeLessThanOrEqual(360);
  const report = new URL(page.url()).pathname;

  await page.getByRole('link', { name: say('rehearsals') }).click();
  await ready(page);
  const row = page.getByRole('row').filter({ has: page.locator(`a[href="${report}"]`) });
  await expect(row).toContainText(say('rehearsal-held'));

  // Of what was made nothing is left to be seen.
  await open(page, '/admin/sales');
  await expect(page.locator('a[href*="/admin/sales/2000000"]')).toHaveCount(0);
});
