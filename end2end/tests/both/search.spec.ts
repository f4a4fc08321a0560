// Looking for a shop: by words, by category, and by a link that somebody sent.
import type { Page } from '@playwright/test';
import { expect, test } from '../../fixtures';
import { open, ready } from '../../verbs';
import { say } from '../../words';

const shops = (page: Page) => page.locator('.cards.shops h3');

async function search(page: Page, words: string): Promise<void> {
  await page.getByLabel(say('search-words')).fill(words);
  await page.getByRole('button', { name: say('search') }).click();
  await page.waitForURL(/words=/);
  await ready(page);
}

test('a shop is found by Chinese and English words, and by its vouchers', async ({
  page,
  admin,
}) => {
  await open(page, '/');
  await search(page, '老巷子');
  await expect(shops(page)).toHaveText(['老巷子火锅']);
  await search(page, 'NOODLE hong');
  await expect(shops(page)).toHaveText(['Noodle House']);
  await admin.createSale({ shop: 6, title: 'Ünïque brunch' });
  await search(page, 'unique');
  await expect(shops(page)).toHaveText(['小满书店']);
  await search(page, 'nodle');
  await expect(page.getByRole('status')).toHaveText(say('similar-shops'));
  await expect(shops(page)).toContainText(['Noodle House']);
  await search(page, '%_%');
  await expect(page.getByText(say('no-shops'))).toBeVisible();
  await page.getByRole('link', { name: say('show-all-shops') }).click();
  await ready(page);
  await expect(shops(page).first()).toBeVisible();
});

test('categories narrow a search down, and the link shows the same to anybody', async ({
  page,
  newVisitor,
}) => {
  await open(page, '/?words=路');
  const chips = page.getByRole('navigation', { name: say('categories') });
  await chips.getByRole('link', { name: '饮品' }).click();
  await page.waitForURL(/category=/);
  await ready(page);
  await expect(shops(page)).toHaveText(['一杯山茶', '北岸咖啡']);
  await expect(chips.locator('[aria-current]')).toContainText('饮品');
  await expect(page.getByLabel(say('field-category'))).toHaveValue('饮品');
  await expect(page.getByLabel(say('search-words'))).toHaveValue('路');

  const friend = await newVisitor();
  await open(friend, page.url());
  await expect(shops(friend)).toHaveText(['一杯山茶', '北岸咖啡']);
});

test('all shops are seen page by page', async ({ page, admin }) => {
  const name = `Paged ${Date.now()}`;
  for (let n = 0; n < 23; n += 1) await admin.createShop(`${name} no${n}`);
  await open(page, `/?words=${encodeURIComponent(name)}`);
  await expect(shops(page)).toHaveCount(20);
  await page.getByRole('link', { name: say('more-shops') }).click();
  await page.waitForURL(/after=/);
  await ready(page);
  await expect(shops(page)).toHaveText([`${name} no20`, `${name} no21`, `${name} no22`]);
  await expect(page.getByRole('link', { name: say('more-shops') })).toHaveCount(0);
  await page.getByRole('link', { name: say('first-shops') }).click();
  await page.waitForURL((url) => !url.searchParams.has('after'));
  await ready(page);
  await expect(shops(page)).toHaveCount(20);
  await expect(page.getByRole('link', { name: say('first-shops') })).toHaveCount(0);
});

test('Chinese words need no space between them, and a voucher is one click away', async ({
  page,
  admin,
}) => {
  await open(page, '/');
  await search(page, '上海火锅');
  await expect(page.getByRole('status')).toHaveText(say('similar-shops'));
  await expect(shops(page)).toHaveText(['老巷子火锅']);
  const title = `芋泥波波 ${Date.now()}`;
  const voucher = await admin.createSale({ shop: 2, title });
  await search(page, title);
  await page.getByRole('link', { name: title }).click();
  await page.waitForURL(`/vouchers/${voucher}`);
  await ready(page);
});
