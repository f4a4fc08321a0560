// The sales console: what an operator sees of a sale while it sells. With script it is always so; without, a reload does.
import { readFile } from 'node:fs/promises';
import type { Locator, Page } from '@playwright/test';
import { expect, test } from '../../fixtures';
import { isScripted } from '../../faults';
import { buy, joinQuickly, open, openVoucher, ready, signInAsAdmin } from '../../verbs';
import { say } from '../../words';

/** Waits until a page shows something: by itself, or, where no script runs, after reloads. */
async function comesToShow(page: Page, shows: () => Promise<void>): Promise<void> {
  if (isScripted()) return shows();
  await expect(async () => {
    await page.getByRole('link', { name: say('refresh'), exact: true }).click();
    await page.waitForLoadState('domcontentloaded');
    await shows();
  }).toPass();
}

function unit(page: Page, place: string): Locator {
  return page.locator(`[data-unit="${place}"] td`);
}

async function unitsAre(page: Page, units: Record<string, number>): Promise<void> {
  const timeout = isScripted() ? 10_000 : 100;
  for (const [place, count] of Object.entries(units)) {
    await expect(unit(page, place), place).toHaveText(String(count), { timeout });
  }
}

/** What a chart says of a line, beside its name. */
function sum(page: Page, chart: string, line: string): Locator {
  return page.locator(`#${chart}-plot .legend li`).filter({ hasText: say(line) }).locator('b');
}

test('the units of a sale add up while its orders wait, and when they are stored', async ({
  page,
  newVisitor,
  program,
  admin,
  consumer,
}) => {
  const voucher = await admin.createSale({ title: 'Hotpot & rice', stock: 5 });
  await signInAsAdmin(page, program);
  await open(page, '/admin/sales');
  const row = page.locator(`tr[data-voucher="${voucher}"]`);
  await expect(row).toContainText('0 / 5');
  await row.getByRole('link', { name: 'Hotpot & rice' }).click();
  await page.waitForURL(`/admin/sales/${voucher}`);
  await ready(page);
  await unitsAre(page, { left: 5, queued: 0, confirmed: 0, dead: 0, drift: 0, granted: 5 });

  await consumer.hold();
  for (let n = 0; n < 2; n += 1) {
    const shopper = await newVisitor();
    await joinQuickly(shopper);
    await openVoucher(shopper, voucher);
    await buy(shopper);
  }
  await comesToShow(page, () =>
    unitsAre(page, { left: 3, queued: 2, confirmed: 0, dead: 0, drift: 0, granted: 5 }),
  );
  await expect(page.getByRole('note')).toHaveCount(0);
  consumer.release();
  await comesToShow(page, () =>
    unitsAre(page, { left: 3, queued: 0, confirmed: 2, dead: 0, drift: 0, granted: 5 }),
  );
});

test('the charts show what happens while it happens, in a table too', async ({
  page,
  newVisitor,
  program,
  admin,
}) => {
  const voucher = await admin.createSale({ stock: 1 });
  await signInAsAdmin(page, program);
  await open(page, `/admin/sales/${voucher}`);
  await expect(page.locator('.chart svg[role="img"]')).toHaveCount(4);
  const timeout = isScripted() ? 10_000 : 100;
  const details = page.locator('.chart').filter({ has: page.locator('#chart-orders-plot') });
  if (isScripted()) await details.locator('summary').click();

  const shopper = await newVisitor();
  await joinQuickly(shopper);
  await openVoucher(shopper, voucher);
  await buy(shopper);
  const late = await newVisitor();
  await joinQuickly(late);
  const press = { form: { voucher_id: voucher }, headers: { accept: 'application/json' } };
  await late.request.post('/api/buy', press);
  await comesToShow(page, async () => {
    await expect(sum(page, 'chart-orders', 'chart-accepted')).toHaveText('1', { timeout });
    await expect(sum(page, 'chart-orders', 'chart-confirmed')).toHaveText('1', { timeout });
    await expect(sum(page, 'chart-refused-at-gate', 'refused-sold_out')).toHaveText('1', { timeout });
  });
  if (isScripted()) await expect(details.locator('details')).toHaveAttribute('open');
  else await details.locator('summary').click();
  await expect(details.getByRole('columnheader', { name: say('chart-accepted') })).toBeVisible();
  const drawn = page.locator('#chart-orders-plot svg[role="img"]');
  await expect(drawn).toHaveAccessibleName(new RegExp(say('chart-orders')));

  await page.getByRole('link', { name: say('span-whole') }).click();
  await page.waitForURL(/span=whole/);
  await ready(page);
  await expect(sum(page, 'chart-orders', 'chart-accepted')).toHaveText('1');
});

test('the orders of a sale are listed, and saved as a file that spreadsheets read', async ({
  page,
  newVisitor,
  program,
  admin,
}) => {
  const voucher = await admin.createSale({ title: '=1+1 双人火锅', stock: 3 });
  const shopper = await newVisitor();
  const name = await joinQuickly(shopper);
  await openVoucher(shopper, voucher);
  const order = await buy(shopper);
  await signInAsAdmin(page, program);
  await open(page, `/admin/sales/${voucher}`);
  await comesToShow(page, () => unitsAre(page, { confirmed: 1 }));
  await page.getByRole('link', { name: say('sale-orders'), exact: true }).click();
  await page.waitForURL(`/admin/sales/${voucher}/orders`);
  await ready(page);
  const row = page.getByRole('row').filter({ hasText: order });
  await expect(row).toContainText(name);
  await expect(row).toContainText(say('status-confirmed'));

  const downloading = page.waitForEvent('download');
  await page.getByRole('link', { name: say('export') }).click();
  const download = await downloading;
  expect(download.suggestedFilename()).toMatch(new RegExp(`^orders-${voucher}-\\d{4}-\\d\\d-\\d\\d\\.csv$`));
  const file = await readFile(await download.path(), 'utf8');
  expect(file.startsWith('\uFEFF"order_id","status",')).toBe(true);
  expect(file).toContain(`"${order}","confirmed"`);
  expect(file).toContain(`"'=1+1 双人火锅"`);

  await page.getByRole('link', { name: say('status-refused') }).click();
  await page.waitForURL(/status=refused/);
  await ready(page);
  await expect(page.getByText(say('no-sale-orders'))).toBeVisible();
});

test('the dead letters of a sale are found from its page, and decided on there', async ({
  page,
  newVisitor,
  program,
  admin,
  store,
}) => {
  const voucher = await admin.createSale({ stock: 2 });
  await signInAsAdmin(page, program);
  const shopper = await newVisitor();
  await joinQuickly(shopper);
  await store.refusingOrders(voucher, async () => {
    await openVoucher(shopper, voucher);
    await buy(shopper);
    await open(page, `/admin/sales/${voucher}`);
    await comesToShow(page, () => unitsAre(page, { left: 1, queued: 0, dead: 1, drift: 0 }));
  });
  await page.getByRole('link', { name: say('unit-dead') }).click();
  await page.waitForURL(`/admin/dead-letters?sale=${voucher}`);
  await ready(page);
  await expect(page.getByRole('row')).toHaveCount(2);
  await page.getByText(say('discard')).click();
  await page.getByRole('button', { name: say('discard-for-good') }).click();
  await page.waitForURL(`/admin/dead-letters?letter=discarded&sale=${voucher}`);
  await ready(page);
  await page.getByRole('link', { name: say('voucher-number', { id: voucher }) }).click();
  await page.waitForURL(`/admin/sales/${voucher}`);
  await ready(page);
  await unitsAre(page, { left: 2, queued: 0, dead: 0, refused: 1, drift: 0 });
});

test('what was done to a sale is read on its page and in the audit log', async ({
  page,
  program,
  admin,
}) => {
  const voucher = await admin.createSale({ stock: 2 });
  await admin.switchSale('pause', voucher);
  await signInAsAdmin(page, program);
  await open(page, `/admin/sales/${voucher}`);
  const history = page.getByRole('region', { name: say('history') });
  await expect(history.locator('[data-entry]')).toHaveCount(2);
  await expect(history).toContainText(say('action-pause-sale'));
  await expect(history).toContainText(say('action-create-sale'));
  await history.getByRole('link', { name: say('whole-history') }).click();
  await page.waitForURL(`/admin/audit?sale=${voucher}`);
  await ready(page);
  await expect(page.locator('[data-entry]')).toHaveCount(2);
  await page.getByRole('link', { name: say('all-entries'), exact: true }).click();
  await page.waitForURL('/admin/audit');
  await ready(page);
  await expect(page.locator('[data-entry]').first()).toBeVisible();
});

test('sales are chosen by words and by how they stand', async ({ page, program, admin }) => {
  const title = `Chosen ${Date.now()}`;
  const voucher = await admin.createSale({ title });
  await admin.switchSale('pause', voucher);
  await signInAsAdmin(page, program);
  await open(page, '/admin/sales');
  await page.getByLabel(say('sales-words')).fill(title.toUpperCase());
  await page.getByLabel(say('sale-state')).selectOption('paused');
  await page.getByRole('button', { name: say('search') }).click();
  await page.waitForURL(/words=.*&standing=paused/);
  await ready(page);
  await expect(page.locator('tr[data-voucher]')).toHaveCount(1);
  await expect(page.locator(`tr[data-voucher="${voucher}"]`)).toContainText(title);
  await open(page, `/admin/sales?words=${encodeURIComponent(title)}&standing=over`);
  await expect(page.getByText(say('no-such-sales'), { exact: true })).toBeVisible();
});
