// Two languages: the browser's own, unless the visitor chooses.
import { expect, test } from '../../fixtures';
import { open, openVoucher, ready } from '../../verbs';
import { words } from '../../words';

const { en, zh } = words;

test('the browser decides about the language: Chinese where it asks for it, else English', async ({
  browser,
  faults,
}) => {
  const wanted: [string, string, string][] = [
    ['zh-CN', 'zh-CN', zh('home-title')],
    ['zh-TW', 'zh-CN', zh('home-title')],
    ['en-GB', 'en', en('home-title')],
    ['fr-FR', 'en', en('home-title')],
  ];
  for (const [locale, lang, title] of wanted) {
    const context = await browser.newContext({ locale });
    await faults.watch(context);
    const page = await context.newPage();
    await open(page, '/');
    await expect(page.locator('html')).toHaveAttribute('lang', lang);
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(title);
    await context.close();
  }
});

test('the switch changes the language, stays on the page, and is remembered', async ({
  page,
  admin,
}) => {
  const voucher = await admin.createSale();
  await openVoucher(page, voucher);
  await expect(page.getByRole('link', { name: en('sign-in-to-buy') })).toBeVisible();

  await page.getByRole('button', { name: en('other-language') }).click();
  await expect(page.getByRole('link', { name: zh('sign-in-to-buy') })).toBeVisible();
  await ready(page);
  expect(new URL(page.url()).pathname).toBe(`/vouchers/${voucher}`);
  await expect(page.locator('.sale .badge')).toHaveText(zh('phase-running'));
  await open(page, '/sign-up');
  await expect(page.locator('html')).toHaveAttribute('lang', 'zh-CN');

  await page.getByRole('button', { name: zh('other-language') }).click();
  await expect(page.locator('html')).toHaveAttribute('lang', 'en');
  expect(new URL(page.url()).pathname).toBe('/sign-up');
});
