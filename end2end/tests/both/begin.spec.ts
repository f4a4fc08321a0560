// The edges of a sale: before its begin, over its begin, and after its end.
import { expect, test } from '../../fixtures';
import { buy, buyButton, joinQuickly, openVoucher, phase, ready, status } from '../../verbs';
import { say } from '../../words';

test('the button works when the sale begins, without anybody loading the page again', async ({
  page,
  admin,
  scripted,
}) => {
  const voucher = await admin.createSale({ beginsIn: 8 });
  await joinQuickly(page);
  await openVoucher(page, voucher);
  await expect(phase(page)).toHaveText(say('phase-not_started'));
  await expect(buyButton(page)).toHaveText(say('button-not_started'));
  if (scripted) {
    await expect(buyButton(page)).toBeDisabled();
    await page.evaluate(() => document.body.setAttribute('data-same-page', ''));
  }

  await expect(buyButton(page)).toHaveText(say('button-running'), { timeout: 20_000 });
  await expect(phase(page)).toHaveText(say('phase-running'));
  if (scripted) {
    await expect(page.locator('body[data-same-page]')).toBeAttached();
    await expect(page.getByRole('status')).toHaveText(say('change-running'));
  }
  await buy(page);
  await expect(status(page)).toHaveText(say('status-confirmed'));
});

test('a sale that is over offers nothing to press, and a page that was open says so', async ({
  page,
  newVisitor,
  admin,
  scripted,
}) => {
  const voucher = await admin.createSale({ endsIn: 8 });
  await joinQuickly(page);
  await openVoucher(page, voucher);
  await expect(buyButton(page)).toBeEnabled();
  await expect
    .poll(async () => (await page.request.get(`/api/sale_status?voucher_id=${voucher}`)).text(), {
      timeout: 20_000,
    })
    .toContain('"ended"');

  if (scripted) {
    await expect(buyButton(page)).toBeDisabled();
    await expect(page.getByRole('status')).toHaveText(say('change-ended'));
  } else {
    await buyButton(page).click();
    await page.waitForURL(/outcome=ended/);
    await expect(page.getByRole('alert')).toHaveText(say('outcome-ended'));
  }
  await expect(buyButton(page)).toHaveText(say('button-ended'));

  const late = await newVisitor();
  await openVoucher(late, voucher);
  await expect(phase(late)).toHaveText(say('phase-ended'));
  await expect(late.getByRole('link', { name: say('sign-in-to-buy') })).toBeHidden();
  await ready(late);
});
