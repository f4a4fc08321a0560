// What an admin does to a running sale, and what a shopper sees of it.
import type { Page } from '@playwright/test';
import { expect, test } from '../../fixtures';
import {
  buy,
  buyButton,
  joinQuickly,
  open,
  openVoucher,
  phase,
  ready,
  signInAsAdmin,
  status,
} from '../../verbs';
import { say } from '../../words';

/** Presses a button of the sale's actions; gives once its page says what came of it. */
async function act(page: Page, key: string, did: string): Promise<void> {
  await page.getByRole('button', { name: say(key), exact: true }).click();
  await page.waitForURL(new RegExp(`did=${did.replace('.', '\\.')}`));
  await ready(page);
}

test('a sale is paused and goes on', async ({
  page,
  newVisitor,
  program,
  admin,
  scripted,
}) => {
  const voucher = await admin.createSale({ stock: 2 });
  await signInAsAdmin(page, program);
  const shopper = await newVisitor();
  await joinQuickly(shopper);
  await openVoucher(shopper, voucher);
  await open(page, `/admin/sales/${voucher}`);
  await act(page, 'pause-sale', 'pause.done');
  await expect(page.getByRole('status')).toHaveText(say('did-pause'));
  // The page that was opened before is told; without script it is pressed, and nothing is ordered.
  if (!scripted) {
    await buyButton(shopper).click();
    await shopper.waitForURL(/outcome=closed/);
    await ready(shopper);
  }
  await expect(phase(shopper)).toHaveText(say('phase-paused'));
  await expect(buyButton(shopper)).toBeDisabled();

  await act(page, 'resume-sale', 'resume.done');
  await expect(page.getByRole('button', { name: say('pause-sale'), exact: true })).toBeVisible();
  await openVoucher(shopper, voucher);
  await buy(shopper);
  await expect(status(shopper)).toHaveText(say('status-confirmed'));
});

test('units are added and cut, and the second of two equal forms does nothing', async ({
  page,
  newVisitor,
  program,
  admin,
}) => {
  const voucher = await admin.createSale({ stock: 1 });
  await signInAsAdmin(page, program);
  const first = await newVisitor();
  await joinQuickly(first);
  await openVoucher(first, voucher);
  await buy(first);
  const shopper = await newVisitor();
  await joinQuickly(shopper);
  await openVoucher(shopper, voucher);
  await expect(phase(shopper)).toHaveText(say('phase-sold_out'));

  const second = await newVisitor();
  await signInAsAdmin(second, program);
  for (const desk of [page, second]) await open(desk, `/admin/sales/${voucher}`);
  // Begun before: what somebody is at is not brought up to date under their hands.
  const late = second.getByLabel(say('add-units-label'));
  await late.fill('5');
  const add = page.getByLabel(say('add-units-label'));
  const button = page.getByRole('button', { name: say('add-units'), exact: true });
  const rises = async (): Promise<number> => {
    const [input, beside] = [await add.boundingBox(), await button.boundingBox()];
    return Math.round((beside?.y ?? 0) - (input?.y ?? 0));
  };
  const before = await rises();
  await add.fill('1e3');
  await act(page, 'add-units', 'add');
  // What is said below the field leaves its button where it was.
  expect(await rises()).toBe(before);
  await expect(add).toHaveValue('1e3');
  await expect(add).toHaveAccessibleDescription(say('problem-not-a-number'));
  await add.fill('5');
  await act(page, 'add-units', 'add.done');
  await expect(page.getByRole('status')).toHaveText(say('did-add'));
  await expect(late).toHaveValue('5');
  await act(second, 'add-units', 'add.old_form');
  await expect(second.getByRole('status')).toHaveText(say('sale-change-old_form'));

  await openVoucher(shopper, voucher);
  await expect(shopper.getByText(say('units-left-of', { left: 5, granted: 6 }))).toBeVisible();
  await buy(shopper);

  // Asked twice: only what is opened can be pressed.
  const cut = page.getByRole('button', { name: say('cut-units'), exact: true });
  await expect(cut).toBeHidden();
  await page.getByText(`${say('cut-units')}…`).click();
  await page.getByLabel(say('cut-units-label')).fill('5');
  await act(page, 'cut-units', 'cut.stopped');
  await expect(page.getByRole('status')).toHaveText(say('sale-change-stopped'));
  const latecomer = await newVisitor();
  await joinQuickly(latecomer);
  await openVoucher(latecomer, voucher);
  await expect(phase(latecomer)).toHaveText(say('phase-sold_out'));
  await expect(latecomer.getByText(say('units-left-of', { left: 0, granted: 2 }))).toBeVisible();
});

for (const [action, outcome, seen] of [
  ['end', 'ended', 'ended'],
  ['withdraw', 'closed', 'withdrawn'],
] as const) {
  test(`${action}: the sale is over at once and for good`, async ({
    page,
    newVisitor,
    program,
    admin,
    scripted,
  }) => {
    const voucher = await admin.createSale();
    await signInAsAdmin(page, program);
    const shopper = await newVisitor();
    await joinQuickly(shopper);
    await openVoucher(shopper, voucher);
    await open(page, `/admin/sales/${voucher}`);
    await expect(page.getByRole('button', { name: say(`${action}-sale-for-good`) })).toBeHidden();
    await page.getByText(`${say(`${action}-sale`)}…`).click();
    await expect(page.getByText(say(`${action}-sale-explained`))).toBeVisible();
    await act(page, `${action}-sale-for-good`, `${action}.done`);
    await expect(page.getByRole('status')).toHaveText(say(`did-${action}`));
    const why = action === 'withdraw' ? 'sale-is-withdrawn' : 'sale-is-over';
    await expect(page.getByText(say(why))).toBeVisible();

    if (!scripted) {
      await buyButton(shopper).click();
      await shopper.waitForURL(new RegExp(`outcome=${outcome}`));
      await ready(shopper);
    }
    await expect(phase(shopper)).toHaveText(say(`phase-${seen}`));
  });
}
