// Order numbers reach the browser digit for digit (case O14).
import type { Page } from '@playwright/test';
import { expect, test } from '../../fixtures';
import { buy, joinQuickly, openVoucher, status } from '../../verbs';
import { say } from '../../words';

const BUYERS = 20;

test('the number is the same in page, request, answer and database; its neighbours are nobody’s', async ({
  page,
  context,
  admin,
  consumer,
  store,
}) => {
  const voucher = await admin.createSale({ stock: BUYERS });
  const numbers: string[] = [];
  await consumer.hold();
  for (let buyer = 0; buyer < BUYERS; buyer += 1) {
    await page.goto('about:blank'); // the page of the buyer before asks no more
    await context.clearCookies();
    await joinQuickly(page);
    await openVoucher(page, voucher);
    const listened = page.waitForRequest((request) => request.url().includes('/live/orders/'));
    const number = await buy(page);
    numbers.push(number);
    expect(new URL((await listened).url()).pathname).toBe(`/live/orders/${number}`);
    expect(await answerOf(page, number)).toMatchObject({ order_id: number, status: 'queued' });
    for (const step of [-1n, 1n]) {
      expect(await answerOf(page, neighbour(number, step))).toEqual({ error: 'not_found' });
    }
  }

  consumer.release();
  await expect(status(page)).toHaveText(say('status-confirmed'));
  await expect.poll(() => store.orders(voucher)).toEqual([...numbers].sort());
  expect(new Set(numbers).size).toBe(BUYERS);
});

async function answerOf(page: Page, number: string): Promise<unknown> {
  const answer = await page.request.get(`/api/order_status?order_id=${number}`);
  return answer.json();
}

/** The number that many steps away. */
function neighbour(number: string, steps: bigint): string {
  const digits = (BigInt(`0x${number.replaceAll('-', '')}`) + steps).toString(16).padStart(32, '0');
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
