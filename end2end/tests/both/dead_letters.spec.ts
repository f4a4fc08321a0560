// Orders that cannot be stored: an admin puts them back or discards them, and their buyers are told.
import type { Page } from '@playwright/test';
import { expect, test } from '../../fixtures';
import { ADMIN } from '../../program/stack';
import { buy, joinQuickly, open, openVoucher, ready, signIn, status } from '../../verbs';
import { say } from '../../words';

/** The row of an order on the page of dead letters, once it is there. */
async function letterOf(admin: Page, order: string) {
  const row = admin.getByRole('row').filter({ hasText: order });
  await expect(async () => {
    await open(admin, '/admin/dead-letters');
    await expect(row).toBeVisible({ timeout: 100 });
  }).toPass();
  return row;
}

test('a dead letter is put back and stored, or discarded and its buyer told', async ({
  page,
  newVisitor,
  program,
  admin,
  store,
}) => {
  const voucher = await admin.createSale({ stock: 2 });
  const second = await newVisitor();
  const orders: string[] = [];
  const desk = await newVisitor();
  await open(desk, '/admin/dead-letters');
  await signIn(desk, ADMIN, program.adminPassword);
  await desk.waitForURL('/admin/dead-letters');
  await store.refusingOrders(voucher, async () => {
    for (const buyer of [page, second]) {
      await joinQuickly(buyer);
      await openVoucher(buyer, voucher);
      orders.push(await buy(buyer));
    }
    for (const order of orders) await letterOf(desk, order);
  });
  const [kept = '', dropped = ''] = orders;
  await expect(status(page)).toHaveText(say('status-queued'));

  const row = await letterOf(desk, kept);
  await expect(row).toContainText(`no_orders_of_${voucher}`);
  await row.getByRole('button', { name: say('replay') }).click();
  await desk.waitForURL('/admin/dead-letters?letter=replayed');
  await ready(desk);
  await expect(desk.getByRole('status')).toHaveText(say('letter-replayed'));
  // In a page of its own: the one that waits goes on by itself at any moment.
  const keptPage = await page.context().newPage();
  await open(keptPage, `/orders/${kept}`);
  await expect(status(keptPage)).toHaveText(say('status-confirmed'));

  const other = await letterOf(desk, dropped);
  await other.getByText(say('discard')).click();
  await other.getByRole('button', { name: say('discard-for-good') }).click();
  await desk.waitForURL('/admin/dead-letters?letter=discarded');
  await ready(desk);
  await expect(desk.getByRole('row').filter({ hasText: dropped })).toHaveCount(0);
  const droppedPage = await second.context().newPage();
  await open(droppedPage, `/orders/${dropped}`);
  await expect(status(droppedPage)).toHaveText(say('status-refused'));
  await expect(droppedPage.getByText(say('reason-discarded'))).toBeVisible();
  expect(await store.orders(voucher)).toEqual([kept]);
});
