// Addresses that lead nowhere, and pages that are not for everybody.
import { expect, test } from '../../fixtures';
import { buy, joinQuickly, newName, open, openVoucher, ready, signUp } from '../../verbs';
import { say } from '../../words';

const ADMIN_PAGES = [
  '/admin/sales',
  '/admin/sales/new',
  '/admin/sales/1',
  '/admin/sales/1/orders',
  '/admin/shops/new',
  '/admin/people',
  '/admin/dead-letters',
  '/admin/rehearsals',
  '/desk',
];

test('addresses that lead nowhere show the same plain page, with a way out', async ({
  page,
  faults,
}) => {
  faults.expect(/status of 404/);
  await joinQuickly(page);
  const nowhere = [
    '/no-such-page',
    '/shops/999999',
    '/shops/abc',
    '/vouchers/2147483648',
    `/vouchers/${'9'.repeat(30)}`,
    '/orders/00000000-0000-8000-8000-000000000000',
    '/orders/17',
  ];
  for (const path of nowhere) {
    const answer = await page.goto(path);
    expect(answer?.status(), path).toBe(404);
    await ready(page);
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(say('error-not_found'));
  }
  await page.getByRole('link', { name: say('to-front-page') }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(say('home-title'));
});

test("somebody else's order looks like one that does not exist", async ({
  page,
  newVisitor,
  admin,
  faults,
}) => {
  faults.expect(/status of 404/);
  const voucher = await admin.createSale();
  await joinQuickly(page);
  await openVoucher(page, voucher);
  const number = await buy(page);

  const other = await newVisitor();
  await joinQuickly(other);
  const answer = await other.goto(`/orders/${number}`);
  expect(answer?.status()).toBe(404);
  await expect(other.getByRole('heading', { level: 1 })).toHaveText(say('error-not_found'));
  await open(other, '/orders');
  await expect(other.getByText(say('no-orders'))).toBeVisible();
});

test('a shopper is kept out of every page of the admins', async ({ page, faults }) => {
  faults.expect(/status of 403/);
  await joinQuickly(page);
  for (const path of ADMIN_PAGES) {
    const answer = await page.goto(path);
    expect(answer?.status(), path).toBe(403);
    await ready(page);
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(say('error-forbidden'));
  }
  await open(page, '/');
  await expect(page.getByRole('link', { name: say('admin'), exact: true })).toHaveCount(0);
});

test('a guest is asked to sign in for a page of their own, and then shown it', async ({ page }) => {
  for (const path of ADMIN_PAGES) {
    await page.goto(path);
    expect(new URL(page.url()).pathname).toBe('/sign-in');
  }
  await page.goto('/orders');
  await ready(page);
  await page
    .getByRole('main')
    .getByRole('link', { name: say('sign-up') })
    .click();
  await page.getByLabel(say('field-name')).fill(newName());
  await page.getByLabel(say('field-password')).fill('a long enough password');
  await page
    .getByRole('main')
    .getByRole('button', { name: say('sign-up') })
    .click();
  await page.waitForURL('/orders');
});

test('whoever signs out is a guest again', async ({ page }) => {
  const name = await signUp(page);
  await expect(page.getByText(name)).toBeVisible();
  await page.getByRole('button', { name: say('sign-out') }).click();
  await expect(page.getByRole('banner').getByRole('link', { name: say('sign-in') })).toBeVisible();
  await page.goto('/orders');
  expect(new URL(page.url()).pathname).toBe('/sign-in');
});
