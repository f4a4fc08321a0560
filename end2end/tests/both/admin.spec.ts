// The admin's part: a sale made in the form is the one that shoppers buy.
import { expect, test } from '../../fixtures';
import { ADMIN } from '../../program/stack';
import { buy, joinQuickly, open, openVoucher, ready, signIn, status } from '../../verbs';
import { say } from '../../words';

const HOUR_MS = 3_600_000;

/** A time as `<input type="datetime-local">` takes it, in Shanghai, where no clock ever changes. */
function inShanghai(at: number): string {
  return new Date(at + 8 * HOUR_MS).toISOString().slice(0, 16);
}

test('an admin creates a sale in the form, and a shopper buys of it', async ({
  page,
  newVisitor,
  program,
}) => {
  await open(page, '/admin/sales');
  await signIn(page, ADMIN, program.adminPassword);
  await page.waitForURL('/admin/sales');
  await ready(page);
  await page.getByRole('link', { name: say('new-sale') }).click();
  await ready(page);

  const field = (name: string) => page.getByLabel(say(`field-${name}`), { exact: true });
  await field('shop-id').selectOption({ index: 1 });
  await field('title').fill('Dumplings & tea <3');
  await field('subtitle').fill('Weekdays');
  await field('rules').fill('One per person.\nNo change given.');
  await field('price').fill('19.99');
  await field('face-value').fill('50');
  await field('stock').fill('3');
  await field('zone').fill('Asia/Shanghai');
  await field('begins-at').fill(inShanghai(Date.now()));
  await field('ends-at').fill(inShanghai(Date.now() + HOUR_MS));
  await page.getByRole('button', { name: say('create-sale') }).click();
  await page.waitForURL(/\/admin\/sales\?created=\d+$/);
  await ready(page);
  await expect(page.getByRole('status')).toContainText(say('sale-created'));
  const voucher = Number(new URL(page.url()).searchParams.get('created'));

  const shopper = await newVisitor();
  await joinQuickly(shopper);
  await openVoucher(shopper, voucher);
  await expect(shopper.getByRole('heading', { level: 1 })).toHaveText('Dumplings & tea <3');
  await expect(shopper.getByText('¥19.99')).toBeVisible();
  await expect(shopper.getByText('¥30.01')).toBeVisible();
  await expect(shopper.locator('.window')).toContainText(
    `${inShanghai(Date.now() + HOUR_MS).slice(0, 10)}`,
  );
  await buy(shopper);
  await expect(status(shopper)).toHaveText(say('status-confirmed'));

  await open(page, '/admin/sales');
  const row = page.locator(`tr[data-voucher="${voucher}"]`);
  await expect(row).toContainText('1 / 3');
  await expect(row.getByRole('cell').nth(4)).toHaveText('0');
});
