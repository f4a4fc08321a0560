// Script in the texts that people type (case O25): it is text, on every page that shows it.
import { type Locator, type Page, expect } from '@playwright/test';
import { test } from '../../fixtures';
import {
  PASSWORD,
  buy,
  fillAccount,
  joinQuickly,
  open,
  openVoucher,
  ready,
  signInAsAdmin,
} from '../../verbs';
import { say } from '../../words';

// Each ends first whatever it may stand in: an attribute, a text area, a title, a script.
const HOSTILE: Record<string, string> = {
  'a script': `"'></textarea></title></script><script>alert(1)</script>`,
  'a picture': `"'></textarea></title></script><img src onerror=alert(1)>`,
  'an address that is script, and a comment': 'javascript:alert(1)<!--',
};

const NAME_LETTERS = 32;

for (const [what, hostile] of Object.entries(HOSTILE)) {
  test(`${what} as shop, voucher, rules and name is shown as it is`, async ({
    page,
    admin,
    program,
    newVisitor,
  }) => {
    const shop = await admin.createShop(hostile);
    const voucher = await admin.createSale({
      shop,
      title: hostile,
      subtitle: hostile,
      rules: `${hostile}\n${hostile}`,
    });
    const unique = Date.now().toString(36).slice(-5);
    const name = unique + hostile.slice(unique.length - NAME_LETTERS);
    await joinQuickly(page, name);

    await open(page, `/?words=${encodeURIComponent(hostile)}`);
    await shows(page, page.getByRole('main').locator('h3').last(), hostile);
    await shows(page, page.locator('.who .name'), name);
    await expect(page.getByLabel(say('search-words'))).toHaveValue(hostile);
    await open(page, `/shops/${shop}`);
    await shows(page, heading(page), hostile);
    await expect(page).toHaveTitle(`${hostile} · ${say('brand')}`);
    await openVoucher(page, voucher);
    await shows(page, heading(page), hostile);
    await shows(page, page.locator('.lead'), hostile);
    await expect(page.locator('.rules')).toContainText(hostile);
    await buy(page);
    await shows(page, page.locator('.details dd').first(), hostile);
    await open(page, '/orders');
    await shows(page, page.getByRole('main').getByRole('heading', { level: 2 }), hostile);

    const desk = await newVisitor();
    await signInAsAdmin(desk, program);
    await open(desk, '/admin/sales');
    await shows(desk, desk.locator(`tr[data-voucher="${voucher}"] th a`), hostile);
    await open(desk, `/admin/sales/${voucher}`);
    await shows(desk, desk.getByRole('main').getByRole('heading', { level: 1 }), hostile);
    await open(desk, '/admin/sales/new');
    await shows(desk, desk.locator(`option[value="${shop}"]`), hostile, 'contains');
  });

  test(`${what} in a form that is refused is typed text again`, async ({ page, program }) => {
    await open(page, '/sign-up');
    await fillAccount(page, hostile, 'short');
    await page.getByRole('main').getByRole('button').click();
    await page.waitForURL(/invalid=/);
    await ready(page);
    await expect(page.getByLabel(say('field-name'))).toHaveValue(hostile);
    await holdsNothingForeign(page);

    await signInAsAdmin(page, program);
    await open(page, '/admin/sales/new');
    const fields = ['title', 'subtitle', 'rules', 'price', 'face_value', 'stock', 'zone'];
    for (const name of fields) await page.locator(`[name="${name}"]`).fill(hostile);
    await page.getByRole('button', { name: say('create-sale') }).click();
    await page.waitForURL(/invalid=/);
    await ready(page);
    for (const name of fields) {
      await expect(page.locator(`[name="${name}"]`)).toHaveValue(hostile);
    }
    await holdsNothingForeign(page);
  });
}

test('an address of a page that is script, or another site, is followed nowhere', async ({
  page,
}) => {
  const name = await joinQuickly(page);
  await page.context().clearCookies();
  for (const next of ['javascript:alert(1)', '//elsewhere.example', '/\\elsewhere.example']) {
    await open(page, `/sign-in?next=${encodeURIComponent(next)}`);
    await fillAccount(page, name, PASSWORD);
    await page.getByRole('main').getByRole('button').click();
    await page.waitForURL('/');
    await ready(page);
    await page.getByRole('button', { name: say('sign-out') }).click();
    await page.waitForURL('/');
  }
});

function heading(page: Page): Locator {
  return page.getByRole('heading', { level: 1 });
}

/** The text stands there letter for letter, and has become no element. */
async function shows(
  page: Page,
  place: Locator,
  text: string,
  how: 'exactly' | 'contains' = 'exactly',
): Promise<void> {
  if (how === 'exactly') await expect(place).toHaveText(text);
  else await expect(place).toContainText(text);
  await holdsNothingForeign(page);
}

/** None of the elements that the texts would make. A dialog, and a violation of the policy, fail every test. */
async function holdsNothingForeign(page: Page): Promise<void> {
  // Pictures of ours have a class.
  const foreign = ':is(img:not([class]), script)';
  await expect(page.locator(`main ${foreign}, .who ${foreign}`)).toHaveCount(0);
}
