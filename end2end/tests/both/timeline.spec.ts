// How an order went, step by step: the last step follows the status above it, with script and without.
import type { Locator, Page } from '@playwright/test';
import { expect, test } from '../../fixtures';
import { buy, joinQuickly, openVoucher, ready, status } from '../../verbs';
import { say } from '../../words';

const TO_THE_SECOND = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\+08:00$/;

/** The steps that are shown. */
function steps(page: Page): Locator {
  return page.locator('.timeline .step').filter({ visible: true });
}

const names = (page: Page) => steps(page).locator('.step-name');

test('an order that waits says what happens and what to do; once it is stored, when that was', async ({
  page,
  admin,
  consumer,
}) => {
  await consumer.hold();
  const voucher = await admin.createSale();
  await joinQuickly(page);
  await openVoucher(page, voucher);
  await buy(page);
  await expect(names(page)).toHaveText([
    say('step-asked'),
    say('step-accepted'),
    say('step-queued'),
  ]);
  await expect(steps(page).last()).toContainText(say('step-queued-hint'));
  for (const step of [0, 1]) {
    await expect(steps(page).nth(step).locator('time')).toHaveText(TO_THE_SECOND);
  }

  consumer.release();
  await expect(status(page)).toHaveText(say('status-confirmed'));
  await expect(names(page).last()).toHaveText(say('step-confirmed'));
  await page.reload();
  await ready(page);
  await expect(names(page)).toHaveText([
    say('step-asked'),
    say('step-accepted'),
    say('step-confirmed'),
  ]);
  await expect(steps(page).last().locator('time')).toHaveText(TO_THE_SECOND);
});

test('an order that came to nothing ends so', async ({ page, context, admin, store }) => {
  const voucher = await admin.createSale();
  await joinQuickly(page);
  const second = await context.newPage();
  await openVoucher(page, voucher);
  await openVoucher(second, voucher);
  await buy(page);
  await expect(status(page)).toHaveText(say('status-confirmed'));
  await store.forgetBuyer(voucher);

  await buy(second);
  await expect(status(second)).toHaveText(say('status-refused'));
  await expect(names(second).last()).toHaveText(say('step-refused'));
});
