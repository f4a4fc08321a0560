// The main job: from signing up to a confirmed order.
import type { Locator } from '@playwright/test';
import { expect, test } from '../../fixtures';
import { whileStopped } from '../../program/child';
import {
  arriveAtOrder,
  buy,
  buyButton,
  fillAccount,
  joinQuickly,
  newName,
  open,
  openVoucher,
  phase,
  ready,
  status,
} from '../../verbs';
import { say } from '../../words';

test('a shopper signs up, buys, waits in the queue, and sees the order confirmed by itself', async ({
  page,
  admin,
  consumer,
}) => {
  const voucher = await admin.createSale({ shop: 2, title: 'Tea for one' });
  await open(page, '/');
  await page.getByRole('heading', { name: '一杯山茶' }).getByRole('link').click();
  await ready(page);
  await page.getByRole('link', { name: 'Tea for one' }).last().click();
  await ready(page);
  await page.getByRole('link', { name: say('sign-in-to-buy') }).click();
  await page
    .getByRole('main')
    .getByRole('link', { name: say('sign-up') })
    .click();
  await fillAccount(page, newName());
  await page
    .getByRole('main')
    .getByRole('button', { name: say('sign-up') })
    .click();
  await page.waitForURL(`/vouchers/${voucher}`);
  await ready(page);

  await consumer.hold();
  const number = await buy(page);
  await expect(status(page)).toHaveText(say('status-queued'));
  await expect(page.getByText(say('status-queued-hint'))).toBeVisible();

  consumer.release();
  await expect(status(page)).toHaveText(say('status-confirmed'));
  await expect(page.getByText(number)).toBeVisible();
});

test('two shoppers race for the last unit: one gets it, the other is told that it is sold out', async ({
  page,
  newVisitor,
  admin,
  store,
}) => {
  const voucher = await admin.createSale({ stock: 1 });
  const racers = [page, await newVisitor()];
  for (const racer of racers) {
    await joinQuickly(racer);
    await openVoucher(racer, voucher);
  }
  await Promise.all(racers.map((racer) => buyButton(racer).click()));
  await Promise.all(racers.map((racer) => racer.waitForURL(/\/orders\/|outcome=/)));

  const [winner, ...others] = racers.filter((racer) => racer.url().includes('/orders/'));
  const loser = racers.find((racer) => racer.url().includes('outcome='));
  expect(others).toEqual([]);
  if (!winner || !loser) throw new Error('nobody won, or nobody lost');
  const number = await arriveAtOrder(winner);
  await expect(status(winner)).toHaveText(say('status-confirmed'));
  await ready(loser);
  await expect(loser.getByRole('alert')).toHaveText(say('outcome-sold_out'));
  await expect(loser.getByRole('button', { name: say('button-sold_out') })).toBeDisabled();
  expect(await store.orders(voucher)).toEqual([number]);
});

test('a sale that is sold out offers nothing to press', async ({ page, newVisitor, admin }) => {
  const voucher = await admin.createSale({ stock: 1 });
  await joinQuickly(page);
  await openVoucher(page, voucher);
  await buy(page);

  const late = await newVisitor();
  await openVoucher(late, voucher);
  await expect(phase(late)).toHaveText(say('phase-sold_out'));
  await expect(late.getByRole('link', { name: say('sign-in-to-buy') })).toBeHidden();
  await joinQuickly(late);
  await openVoucher(late, voucher);
  await expect(buyButton(late)).toHaveText(say('button-sold_out'));
  await expect(buyButton(late)).toBeDisabled();
  await expect(late.getByText(say('units-left-of', { left: 0, granted: 1 }))).toBeVisible();
});

test('whoever has bought finds the way to the order in place of the button', async ({
  page,
  admin,
}) => {
  const voucher = await admin.createSale();
  await joinQuickly(page);
  await openVoucher(page, voucher);
  const number = await buy(page);

  await openVoucher(page, voucher);
  await expect(page.getByText(say('own-order'))).toBeVisible();
  await expect(buyButton(page)).toBeHidden();
  await page.getByRole('link', { name: say('see-order') }).click();
  expect(await arriveAtOrder(page)).toBe(number);
});

test('a second tab that still shows the button leads to the same order', async ({
  page,
  context,
  admin,
  store,
}) => {
  const voucher = await admin.createSale();
  await joinQuickly(page);
  const second = await context.newPage();
  await openVoucher(page, voucher);
  await openVoucher(second, voucher);

  const number = await buy(page);
  await expect(status(page)).toHaveText(say('status-confirmed'));
  expect(await buy(second)).toBe(number);
  expect(await store.orders(voucher)).toEqual([number]);
});

test('a second click while the first is on its way buys nothing more', async ({
  page,
  admin,
  store,
  program,
  scripted,
}) => {
  const voucher = await admin.createSale();
  await joinQuickly(page);
  await openVoucher(page, voucher);
  let sent = 0;
  page.on('request', (request) => {
    if (request.method() === 'POST') sent += 1;
  });

  const { x, y } = await middle(buyButton(page));
  await whileStopped(program.webPid, async () => {
    await page.mouse.click(x, y);
    await expect.poll(() => sent).toBe(1);
    await page.mouse.click(x, y);
  });
  const number = await arriveAtOrder(page);
  await expect(status(page)).toHaveText(say('status-confirmed'));
  expect(await store.orders(voucher)).toEqual([number]);
  if (scripted) expect(sent).toBe(1);
});

test('going back after a buy shows the way to the order, and no button that hangs', async ({
  page,
  admin,
}) => {
  const voucher = await admin.createSale();
  await joinQuickly(page);
  await openVoucher(page, voucher);
  const number = await buy(page);

  await page.goBack();
  await page.waitForURL(`/vouchers/${voucher}`);
  await ready(page);
  await page.getByRole('link', { name: say('see-order') }).click();
  expect(await arriveAtOrder(page)).toBe(number);
});

test('an order that the database refuses says why, and leads to the order that counts', async ({
  page,
  context,
  admin,
  store,
}) => {
  const voucher = await admin.createSale();
  await joinQuickly(page);
  const second = await context.newPage();
  await openVoucher(page, voucher);
  await openVoucher(second, voucher);
  const number = await buy(page);
  await expect(status(page)).toHaveText(say('status-confirmed'));
  await store.forgetBuyer(voucher);

  expect(await buy(second)).not.toBe(number);
  await expect(status(second)).toHaveText(say('status-refused'));
  await expect(second.getByText(say('reason-already_bought'))).toBeVisible();
  await ready(second);
  await second.getByRole('link', { name: say('live-order') }).click();
  expect(await arriveAtOrder(second)).toBe(number);
  expect(await store.orders(voucher)).toEqual([number]);
});

/** Where to point in order to press something. */
async function middle(target: Locator): Promise<{ x: number; y: number }> {
  await target.scrollIntoViewIfNeeded();
  const box = await target.boundingBox();
  if (!box) throw new Error('there is nothing to press');
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}
