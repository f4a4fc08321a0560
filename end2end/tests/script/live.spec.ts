// What open pages are told as it happens, without asking for it.
import type { Page } from '@playwright/test';
import { expect, test } from '../../fixtures';
import {
  buy,
  buyButton,
  joinQuickly,
  open,
  openVoucher,
  phase,
  setHidden,
  status,
} from '../../verbs';
import { say } from '../../words';

/** The questions that a page asks from now on, by path. */
function questions(page: Page): string[] {
  const asked: string[] = [];
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.startsWith('/api/') && request.method() === 'GET') asked.push(pathname);
  });
  return asked;
}

test('units left and the end of the stock are shown to everybody who looks, unasked', async ({
  page,
  newVisitor,
  admin,
}) => {
  const voucher = await admin.createSale({ stock: 2 });
  const asked = questions(page);
  await openVoucher(page, voucher);
  for (const left of [1, 0]) {
    const buyer = await newVisitor();
    await joinQuickly(buyer);
    await openVoucher(buyer, voucher);
    await buy(buyer);
    await expect(page.getByText(say('units-left-of', { left, granted: 2 }))).toBeVisible();
  }
  await expect(phase(page)).toHaveText(say('phase-sold_out'));
  await expect(page.getByRole('status')).toHaveText(say('change-sold_out'));
  expect(asked).toEqual([]);
});

test('an order turns final by itself, unasked', async ({ page, admin, consumer }) => {
  await consumer.hold();
  const voucher = await admin.createSale();
  await joinQuickly(page);
  await openVoucher(page, voucher);
  const asked = questions(page);
  await buy(page);
  await expect(status(page)).toHaveText(say('status-queued'));
  consumer.release();
  await expect(status(page)).toHaveText(say('status-confirmed'));
  expect(asked).toEqual([]);
});

test('a page that was out of view knows of an order made meanwhile when somebody looks again', async ({
  page,
  context,
  admin,
}) => {
  const voucher = await admin.createSale();
  await joinQuickly(page);
  await openVoucher(page, voucher);
  await expect(buyButton(page)).toBeEnabled();
  await setHidden(page, true);
  const second = await context.newPage();
  await openVoucher(second, voucher);
  const number = await buy(second);
  await expect(buyButton(page)).toBeVisible();
  await setHidden(page, false);
  await expect(buyButton(page)).toBeHidden();
  const link = page.getByRole('link', { name: say('see-order') });
  await expect(link).toHaveAttribute('href', `/orders/${number}`);
});

test('signing out in another tab is noticed at once', async ({
  page,
  context,
  admin,
  consumer,
  faults,
}) => {
  faults.expect(/status of 401.*order/);
  await consumer.hold();
  const voucher = await admin.createSale();
  await joinQuickly(page);
  await openVoucher(page, voucher);
  await buy(page);
  await expect(status(page)).toHaveText(say('status-queued'));
  const second = await context.newPage();
  await open(second, '/');
  await second.getByRole('button', { name: say('sign-out') }).click();
  await expect(page.getByRole('alert')).toContainText(say('signed-out'));
  await expect(status(page)).toHaveText(say('status-queued'));
});
