// A sale is edited: an old form undoes nothing, a doubled hour is asked about, a preview stores nothing, and a sale can be made
// like another. Times mean the same instant in every browser (cases O17, O19).
import type { Page } from '@playwright/test';
import { expect, test } from '../../fixtures';
import { ADMIN } from '../../program/stack';
import { joinQuickly, open, openVoucher, phase, ready, signInAsAdmin } from '../../verbs';
import { say } from '../../words';

const DAY_MS = 86_400_000;

function field(page: Page, name: string) {
  return page.locator(`form[action$="_sale"] [name="${name}"]`).first();
}

async function press(page: Page, key: string, leadsTo: RegExp): Promise<void> {
  await page.getByRole('button', { name: say(key), exact: true }).click();
  await page.waitForURL(leadsTo);
  await ready(page);
}

/** A day far enough ahead, in Shanghai, where no clock ever changes. */
function dayAhead(days: number): string {
  return new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);
}

test('a title is corrected while the sale sells, and an old form undoes nothing', async ({
  page,
  newVisitor,
  program,
  admin,
}) => {
  const voucher = await admin.createSale({ title: 'Nodles', stock: 3 });
  await signInAsAdmin(page, program);
  const second = await newVisitor();
  await signInAsAdmin(second, program);
  await open(page, '/admin/sales');
  const row = page.locator(`tr[data-voucher="${voucher}"]`);
  await row.getByRole('link').click();
  await ready(page);
  await page.getByRole('link', { name: say('edit-sale') }).click();
  await ready(page);
  await open(second, `/admin/sales/${voucher}/edit`);

  await field(page, 'title').fill('Noodles & <tea>');
  await press(page, 'save', /did=edit\.done$/);
  await expect(page.getByRole('status')).toHaveText(say('did-edit'));
  const shopper = await newVisitor();
  await openVoucher(shopper, voucher);
  await expect(shopper.getByRole('heading', { level: 1 })).toHaveText('Noodles & <tea>');

  await field(second, 'title').fill('Nodles, warm');
  await field(second, 'subtitle').fill('');
  await press(second, 'save', /invalid=version\.old-form/);
  const alert = second.getByRole('alert');
  await expect(alert).toContainText(say('problem-old-form'));
  await expect(alert).toContainText(`Changed by ${ADMIN}`);
  await expect(field(second, 'title')).toHaveValue('Nodles, warm');
  await expect(field(second, 'title')).toHaveAccessibleDescription(
    `${say('field-title-hint')} ${say('present-value')} Noodles & <tea>`,
  );
  await expect(field(second, 'subtitle')).toHaveValue('');
  await openVoucher(shopper, voucher);
  await expect(shopper.getByRole('heading', { level: 1 })).toHaveText('Noodles & <tea>');

  await field(second, 'title').fill('Noodles, warm');
  await press(second, 'save', /did=edit\.done$/);
  await open(second, `/admin/sales/${voucher}/edit`);
  await press(second, 'save', /did=edit\.unchanged$/);
  await openVoucher(shopper, voucher);
  await expect(shopper.getByRole('heading', { level: 1 })).toHaveText('Noodles, warm');
});

test('what is past cannot be changed, and the form says why', async ({ page, program, admin }) => {
  const voucher = await admin.createSale();
  await signInAsAdmin(page, program);
  await open(page, `/admin/sales/${voucher}/edit`);
  for (const name of ['price', 'face_value', 'begins_at', 'zone'])
    await expect(field(page, name)).toHaveAttribute('readonly');
  await expect(page.getByText(say('price-is-fixed'))).toBeVisible();
  await expect(
    page.getByRole('main').getByRole('link', { name: say('sale-actions') }),
  ).toHaveAttribute('href', `/admin/sales/${voucher}#sale-actions`);
  await expect(field(page, 'ends_at')).not.toHaveAttribute('readonly');
  await field(page, 'ends_at').fill('2001-01-01T10:00');
  await press(page, 'save', /invalid=ends_at/);
  await expect(page.locator('#ends_at-error')).toHaveText(say('problem-ends-before-begins'));
});

test('a doubled hour is asked about, a missing one refused', async ({ page, program }) => {
  await signInAsAdmin(page, program);
  await open(page, '/admin/sales/new');
  const values = {
    title: 'Late breakfast',
    price: '19.99',
    face_value: '50',
    stock: '3',
    zone: 'Europe/Berlin',
    begins_at: '2027-03-28T02:30',
    ends_at: '2027-10-31T02:30',
  };
  for (const [name, value] of Object.entries(values)) await field(page, name).fill(value);
  await press(page, 'create-sale', /invalid=begins_at/);
  await expect(page.locator('#begins_at-error')).toHaveText(say('problem-no-such-time'));
  await expect(page.locator('#ends_at-error')).toHaveText(say('problem-doubled-time'));
  await field(page, 'begins_at').fill('2027-10-31T01:30');
  const which = page.getByLabel(say('field-ends-at-offset'));
  await expect(which.getByRole('option')).toHaveText([
    say('choose'),
    say('first-of-two', { offset: 'UTC+02:00' }),
    say('second-of-two', { offset: 'UTC+01:00' }),
  ]);
  await press(page, 'create-sale', /invalid=ends_at\.doubled-time/);
  await page.getByLabel(say('field-ends-at-offset')).selectOption('+01:00');
  await press(page, 'create-sale', /created=\d+$/);
  const voucher = Number(new URL(page.url()).searchParams.get('created'));
  await openVoucher(page, voucher);
  await expect(page.locator('.window time').last()).toHaveAttribute('datetime', '2027-10-31T01:30:00Z');

  // Opened again, the form knows which of the two it is.
  await open(page, `/admin/sales/${voucher}/edit`);
  await expect(page.getByLabel(say('field-ends-at-offset'))).toHaveValue('+01:00');
  await press(page, 'save', /did=edit\.unchanged$/);
});

test('a preview stores nothing, and leads on or back with all that was typed', async ({
  page,
  program,
}) => {
  await signInAsAdmin(page, program);
  await open(page, '/admin/sales/new');
  const values = {
    title: 'Tea for two 四折 & more',
    subtitle: 'Weekdays',
    rules: 'One per person.\nNo “change” given.',
    price: '10.2',
    face_value: '9',
    stock: '3',
    zone: 'Asia/Shanghai',
    begins_at: `${dayAhead(2)}T10:00`,
    ends_at: `${dayAhead(2)}T11:00`,
  };
  for (const [name, value] of Object.entries(values)) await field(page, name).fill(value);
  await press(page, 'preview', /\/admin\/sales\/new\?invalid=face_value\.below-price/);
  await field(page, 'face_value').fill('25');
  await press(page, 'preview', /\/admin\/sales\/preview\?/);
  await expect(page.getByRole('status')).toContainText(say('preview-explained'));
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(values.title);
  await expect(page.getByText('¥14.80')).toBeVisible();
  await expect(page.locator('.rules')).toHaveText(values.rules);
  await expect(page.locator('.window')).toContainText(`${dayAhead(2)} 10:00 UTC+08:00`);
  await expect(page.getByRole('button', { name: say('button-not_started') })).toBeDisabled();

  await page.getByRole('link', { name: say('back-to-form') }).click();
  await ready(page);
  for (const [name, value] of Object.entries({ ...values, face_value: '25' }))
    await expect(field(page, name)).toHaveValue(value);
  await press(page, 'preview', /\/admin\/sales\/preview\?/);
  await press(page, 'create-sale', /created=\d+$/);
  const voucher = Number(new URL(page.url()).searchParams.get('created'));

  // The form that edits has a preview of its own; from it, it is saved.
  await open(page, `/admin/sales/${voucher}/edit`);
  await field(page, 'title').fill('Tea for three');
  await press(page, 'preview', /\/admin\/sales\/preview\?/);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Tea for three');
  await press(page, 'save', /did=edit\.done$/);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Tea for three');
});

test('a preview is as wide as the page that it shows', async ({ page, program }) => {
  await page.setViewportSize({ width: 1280, height: 800 });
  await signInAsAdmin(page, program);
  await open(page, '/admin/sales/new');
  const values = {
    title: 'Wide as a page',
    price: '10',
    face_value: '20',
    stock: '3',
    zone: 'Asia/Shanghai',
    begins_at: `${dayAhead(2)}T10:00`,
    ends_at: `${dayAhead(2)}T11:00`,
  };
  for (const [name, value] of Object.entries(values)) await field(page, name).fill(value);
  const place = async () => {
    const article = await page.getByRole('article').boundingBox();
    const offer = await page.locator('.offer').boundingBox();
    return { x: article?.x, width: article?.width, offer: offer?.x };
  };
  await press(page, 'preview', /\/admin\/sales\/preview\?/);
  const previewed = await place();
  expect(previewed.width).toBeGreaterThan(1000);
  await press(page, 'create-sale', /created=\d+$/);
  await openVoucher(page, Number(new URL(page.url()).searchParams.get('created')));
  expect(await place()).toEqual(previewed);
});

test('large numbers are read and written in groups of three digits', async ({ page, program }) => {
  await signInAsAdmin(page, program);
  await open(page, '/admin/sales/new');
  const values = {
    title: 'A great many',
    price: '1,234.5',
    face_value: '２０００',
    stock: '１，２３４，５６７',
    zone: 'Asia/Shanghai',
    begins_at: `${dayAhead(-1)}T10:00`,
    ends_at: `${dayAhead(2)}T11:00`,
  };
  for (const [name, value] of Object.entries(values)) await field(page, name).fill(value);
  await press(page, 'create-sale', /created=\d+$/);
  await openVoucher(page, Number(new URL(page.url()).searchParams.get('created')));
  await expect(page.locator('.price-line')).toContainText('¥1,234.50');
  await expect(page.locator('.price-line')).toContainText('¥2,000.00');
  await expect(page.locator('.left')).toHaveText(
    say('units-left-of', { left: '1,234,567', granted: '1,234,567' }),
  );
  await expect(page.locator('.left')).toHaveAttribute('data-left', '1234567');
});

test('a sale is made like another, in a window to come', async ({ page, program, admin }) => {
  const voucher = await admin.createSale({ title: 'Monday soup', stock: 7, beginsIn: -7200, endsIn: 60 });
  await signInAsAdmin(page, program);
  await open(page, `/admin/sales/${voucher}`);
  await page.getByRole('link', { name: say('duplicate-sale') }).click();
  await ready(page);
  await expect(field(page, 'title')).toHaveValue('Monday soup');
  await expect(field(page, 'stock')).toHaveValue('7');
  await press(page, 'create-sale', /created=\d+$/);
  const like = Number(new URL(page.url()).searchParams.get('created'));
  await openVoucher(page, like);
  await expect(phase(page)).toHaveText(say('phase-not_started'));
});

for (const zone of ['Asia/Shanghai', 'Europe/Berlin']) {
  test.describe(`in a browser in ${zone}`, () => {
    test.use({ timezoneId: zone });

    test('times are those of the sale, with its zone beside them', async ({
      page,
      newVisitor,
      program,
    }) => {
      await signInAsAdmin(page, program);
      await open(page, '/admin/sales/new');
      const day = dayAhead(1);
      const values = {
        title: `From ten to eleven, typed in ${zone}`,
        price: '1',
        face_value: '2',
        stock: '3',
        zone: 'Asia/Shanghai',
        begins_at: `${day}T10:00`,
        ends_at: `${day}T11:00`,
      };
      for (const [name, value] of Object.entries(values)) await field(page, name).fill(value);
      await press(page, 'create-sale', /created=\d+$/);
      const voucher = Number(new URL(page.url()).searchParams.get('created'));
      await open(page, `/admin/sales/${voucher}/edit`);
      await expect(field(page, 'begins_at')).toHaveValue(`${day}T10:00`);
      await expect(field(page, 'zone')).toHaveValue('Asia/Shanghai');
      await press(page, 'save', /did=edit\.unchanged$/);

      const shopper = await newVisitor();
      await joinQuickly(shopper);
      await openVoucher(shopper, voucher);
      const begins = shopper.locator('.window time').first();
      await expect(begins).toHaveText(`${day} 10:00 UTC+08:00`);
      await expect(begins).toHaveAttribute('datetime', `${day}T02:00:00Z`);
    });
  });
}

test('a shop is edited, and an old form undoes nothing', async ({
  page,
  newVisitor,
  program,
  admin,
}) => {
  const shop = await admin.createShop('Tea housse');
  await signInAsAdmin(page, program);
  const second = await newVisitor();
  await signInAsAdmin(second, program);
  await open(page, '/admin/shops');
  const link = page.locator(`a[href="/admin/shops/${shop}/edit"]`);
  // Those shops of the demo and of other tests come first; the list has pages.
  while ((await link.count()) === 0) {
    await page.getByRole('link', { name: say('more-shops') }).click();
    await ready(page);
  }
  await link.click();
  await ready(page);
  await open(second, `/admin/shops/${shop}/edit`);
  await page.getByLabel(say('field-name'), { exact: true }).fill('Tea house');
  await press(page, 'save', /changed=shop$/);
  await expect(page.getByRole('status')).toHaveText(say('changed-shop'));
  await second.getByLabel(say('field-address'), { exact: true }).fill('By the bridge');
  await press(second, 'save', /invalid=version\.old-form/);
  await expect(second.getByRole('alert')).toContainText(say('problem-old-form'));
  await expect(second.getByLabel(say('field-name'), { exact: true })).toHaveAccessibleDescription(
    `${say('present-value')} Tea house`,
  );
  await open(page, `/shops/${shop}`);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Tea house');
});
