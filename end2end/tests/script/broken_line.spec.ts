// A press of the button over a line that breaks: the page stays, and no press is lost or counted twice.
import { expect, test } from '../../fixtures';
import { arriveAtOrder, buyButton, joinQuickly, openVoucher, status } from '../../verbs';
import { say } from '../../words';

test('a press that does not get through is sent again, and is one order', async ({
  page,
  admin,
  store,
  faults,
}) => {
  faults.expect(/ERR_FAILED|ERR_CONNECTION/);
  const voucher = await admin.createSale({ stock: 5 });
  await joinQuickly(page);
  await openVoucher(page, voucher);
  let presses = 0;
  await page.route('**/api/buy', async (route) => {
    presses += 1;
    // The first arrives, and its answer is lost; the second does not arrive.
    if (presses === 1) await route.fetch();
    await (presses < 3 ? route.abort() : route.continue());
  });
  await buyButton(page).click();
  await expect(page.getByRole('alert')).toHaveText(say('press-again'));
  await expect(buyButton(page)).toBeDisabled();
  const order = await arriveAtOrder(page);
  await expect(status(page)).toHaveText(say('status-confirmed'));
  expect(presses).toBe(3);
  expect(await store.orders(voucher)).toEqual([order]);
});

test('without any answer the page says so, and the button works again', async ({
  page,
  admin,
  faults,
}) => {
  faults.expect(/ERR_FAILED/);
  const voucher = await admin.createSale({ stock: 5 });
  await joinQuickly(page);
  await page.clock.install();
  await openVoucher(page, voucher);
  await page.route('**/api/buy', (route) => route.abort());
  await buyButton(page).click();
  await expect(page.getByRole('alert')).toHaveText(say('press-again'));
  await expect(async () => {
    await page.clock.runFor(2000);
    await expect(page.getByRole('alert')).toHaveText(say('press-unknown'), { timeout: 100 });
  }).toPass();
  await expect(buyButton(page)).toBeEnabled();

  await page.unroute('**/api/buy');
  await page.clock.resume();
  await buyButton(page).click();
  await arriveAtOrder(page);
});
