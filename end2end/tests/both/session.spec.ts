// A login session that ends in the middle of a sale (case O26).
import { expect, test } from '../../fixtures';
import {
  arriveAtOrder,
  buy,
  buyButton,
  deafen,
  joinQuickly,
  openVoucher,
  ready,
  signIn,
  status,
} from '../../verbs';
import { say } from '../../words';

test('a press after the session has ended asks to sign in, and leads back with nothing bought', async ({
  page,
  admin,
  store,
  faults,
}) => {
  faults.expect(/status of 401.*api\/buy/);
  const voucher = await admin.createSale({ stock: 5 });
  const name = await joinQuickly(page);
  await openVoucher(page, voucher);
  await store.endSession(page.context());

  await buyButton(page).click();
  await page.waitForURL(/\/sign-in\?next=/);
  await ready(page);
  await signIn(page, name);
  await page.waitForURL(`/vouchers/${voucher}`);
  await ready(page);
  await expect(page.getByText(say('units-left-of', { left: 5, granted: 5 }))).toBeVisible();
  await expect(buyButton(page)).toBeEnabled();
  await expect(buyButton(page)).toHaveText(say('button-running'));
  expect(await store.orders(voucher)).toEqual([]);
  await buy(page);
});

test('an order page whose session ends asks to sign in, and goes on', async ({
  page,
  admin,
  consumer,
  store,
  faults,
  scripted,
}) => {
  faults.expect(/status of 401.*order_status/);
  await deafen(page, faults); // the end of a session that nobody ended is found by asking
  await consumer.hold();
  const voucher = await admin.createSale();
  const name = await joinQuickly(page);
  await openVoucher(page, voucher);
  const number = await buy(page);
  await store.endSession(page.context());

  if (scripted) {
    await expect(page.getByRole('alert')).toContainText(say('signed-out'));
    await expect(status(page)).toHaveText(say('status-queued'));
    await page
      .getByRole('alert')
      .getByRole('link', { name: say('sign-in') })
      .click();
  }
  await page.waitForURL(/\/sign-in\?next=/, { timeout: 20_000 });
  await ready(page);
  await signIn(page, name);
  expect(await arriveAtOrder(page)).toBe(number);
  await expect(status(page)).toHaveText(say('status-queued'));
  consumer.release();
  await expect(status(page)).toHaveText(say('status-confirmed'));
});

test('calls without a session answer 401 as data, never a page', async ({ page, admin }) => {
  const voucher = await admin.createSale();
  const accept = { accept: 'application/json' };
  const answers = [
    await page.request.post('/api/buy', { form: { voucher_id: voucher }, headers: accept }),
    await page.request.get('/api/my_orders', { headers: accept }),
    await page.request.get('/api/order_status?order_id=x', { headers: accept }),
    await page.request.post('/api/admin/create_shop', { form: { name: 'x' }, headers: accept }),
  ];
  for (const answer of answers) {
    expect(answer.status(), answer.url()).toBe(401);
    expect(await answer.json()).toMatchObject({ error: 'sign_in_required' });
  }
});
