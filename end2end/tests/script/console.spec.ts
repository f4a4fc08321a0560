// What only a script does in the console: it keeps the figures up to date, until it is told to stop.
import type { Page } from '@playwright/test';
import { expect, test } from '../../fixtures';
import { ADMIN } from '../../program/stack';
import { joinQuickly, open } from '../../verbs';
import { say } from '../../words';

/** Presses the button of a voucher as somebody new. */
async function sell(visitor: Page, voucher: number): Promise<void> {
  await joinQuickly(visitor);
  const answer = await visitor.request.post('/api/buy', {
    form: { voucher_id: voucher },
    headers: { accept: 'application/json' },
  });
  expect(await answer.json()).toMatchObject({ outcome: 'queued' });
}

test.beforeEach(async ({ page, program }) => {
  const form = { name: ADMIN, password: program.adminPassword };
  await page.request.post('/api/sign_in', { form, headers: { accept: 'application/json' } });
});

test('the list of sales counts on by itself', async ({ page, admin, newVisitor }) => {
  const voucher = await admin.createSale({ stock: 5 });
  await open(page, '/admin/sales');
  const row = page.locator(`tr[data-voucher="${voucher}"]`);
  await expect(row).toContainText('0 / 5');
  await sell(await newVisitor(), voucher);
  await expect(row).toContainText('1 / 5');
});

test('figures stand still when they are told to, and go on', async ({ page, admin, newVisitor }) => {
  const voucher = await admin.createSale({ stock: 5 });
  await open(page, `/admin/sales/${voucher}`);
  await page.getByRole('button', { name: say('live-pause') }).click();
  const resume = page.getByRole('button', { name: say('live-resume') });
  await expect(resume).toBeVisible();
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  await sell(await newVisitor(), voucher);
  // Longer than it would have taken.
  await page.clock.install();
  await page.clock.runFor(10_000);
  expect(asked).toEqual([]);
  await expect(page.locator('#sale-head')).toContainText('0 / 5');
  await page.clock.resume();
  await resume.click();
  await expect(page.locator('#sale-head')).toContainText('1 / 5');
});

test('what somebody is at with the keyboard is not taken away', async ({ page, admin, newVisitor }) => {
  const voucher = await admin.createSale({ stock: 5 });
  await open(page, `/admin/sales/${voucher}`);
  const link = page.locator('#sale-units a').first();
  await link.focus();
  await sell(await newVisitor(), voucher);
  await expect(page.locator('#sale-head')).toContainText('1 / 5');
  await expect(link).toBeFocused();
  await page.getByRole('button', { name: say('live-pause') }).focus();
  await expect(page.locator('[data-unit="confirmed"] td')).toHaveText('1');
});

test('what was typed or opened is not taken away', async ({ page, admin, newVisitor }) => {
  const voucher = await admin.createSale({ stock: 5 });
  await open(page, `/admin/sales/${voucher}`);
  const add = page.getByLabel(say('add-units-label'));
  await add.fill('5');
  const cut = page.locator('details', { hasText: say('cut-units') });
  await cut.locator('summary').click();
  await page.getByRole('heading', { level: 1 }).click(); // nothing is in focus now
  await admin.switchSale('pause', voucher);
  await admin.switchSale('resume', voucher);
  await sell(await newVisitor(), voucher);
  await expect(page.locator('#sale-head')).toContainText('1 / 5');
  await expect(page.locator('[data-unit="confirmed"] td')).toHaveText('1');
  await expect(add).toHaveValue('5');
  await expect(cut).toHaveAttribute('open');
});

test('who is signed out elsewhere is told that the figures stand still', async ({
  page,
  admin,
  store,
  faults,
}) => {
  faults.expect(/status of 401/);
  const voucher = await admin.createSale({ stock: 5 });
  await open(page, `/admin/sales/${voucher}`);
  await store.endSession(page.context());
  await expect(page.getByText(say('live-signed-out'))).toBeVisible();
});

test('figures that come no more say so, and from when they are, until they come again', async ({
  page,
  admin,
  faults,
}) => {
  faults.expect(/net::ERR_FAILED/);
  const voucher = await admin.createSale({ stock: 5 });
  await open(page, `/admin/sales/${voucher}`);
  const lost = page.locator('.live-ways [role="status"]');
  await expect(lost).toBeHidden();
  const parts = '**/api/admin/sale_parts?*';
  let failures = 0;
  page.on('requestfailed', (request) => {
    if (request.url().includes('sale_parts')) failures += 1;
  });
  await page.route(parts, (route) => route.abort());
  await expect.poll(() => failures, { timeout: 20_000 }).toBe(1);
  await expect(lost, 'one may be an accident').toBeHidden();
  const words = new RegExp(`^${say('live-lost')} \\d\\d:\\d\\d:\\d\\d$`);
  await expect(lost).toHaveText(words, { timeout: 20_000 });
  await page.unroute(parts);
  await expect(lost).toBeHidden({ timeout: 30_000 });
});
