// Every page on a narrow phone, in light and in dark: nothing is cut off, nothing moves sideways.
import { type Page, expect } from '@playwright/test';
import { test } from '../../fixtures';
import { buy, joinQuickly, open, openVoucher, signInAsAdmin } from '../../verbs';

const NARROW = { width: 390, height: 844 };

test.use({ viewport: NARROW, locale: 'zh-CN' });

const LONG = '一家名字很长很长的店里卖的一张标题也很长很长的代金券ABCDEFGHIJKLMNOPQRSTUVWXYZ';

/** Sixty letters without a space, as a title may be. */
const ONE_WORD = 'Wort'.repeat(15);

/** Names that leave the bar little room: nine Chinese letters, and sixteen Latin ones. */
function longNames(): string[] {
  const letter = String.fromCodePoint(0x4e00 + (Date.now() % 20_000));
  return [`名字真的很长的客${letter}`, `dragon_slayer${Date.now().toString(36).slice(-3)}`];
}

/** No table moves sideways within the page. */
async function tablesFit(page: Page): Promise<void> {
  const inside = await page
    .locator('.scroll')
    .evaluateAll((all) => all.map((table) => table.scrollWidth - table.clientWidth));
  for (const beyond of inside) expect(beyond, `table of ${page.url()}`).toBeLessThanOrEqual(0);
}

async function fits(page: Page): Promise<void> {
  const [inside, width] = await page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    return [scrollWidth, clientWidth] as const;
  });
  expect(inside, `width of ${page.url()}`).toBeLessThanOrEqual(width);
}

for (const colorScheme of ['light', 'dark'] as const) {
  test.describe(`in ${colorScheme}`, () => {
    test.use({ colorScheme });

    test('the pages of a shopper fit', async ({ page, admin, faults }) => {
      faults.expect(/status of 404/);
      const vouchers = [
        await admin.createSale({ shop: 1, title: LONG }),
        await admin.createSale({ shop: 1, title: LONG, beginsIn: 90_000, endsIn: 100_000 }),
      ];
      for (const path of ['/', '/?words=nothing', '/shops/1', '/sign-in', '/sign-up', '/nowhere']) {
        await open(page, path);
        await fits(page);
      }
      await joinQuickly(page, `名字很长的顾客${Date.now()}${colorScheme}`);
      for (const path of ['/orders', ...vouchers.map((voucher) => `/vouchers/${voucher}`)]) {
        await open(page, path);
        await fits(page);
      }
      await openVoucher(page, vouchers[0] ?? 0);
      await buy(page);
      await fits(page);
      await open(page, '/orders');
      await fits(page);
    });

    test('the pages of an admin fit', async ({ page, admin, program }) => {
      const sale = await admin.createSale({ shop: 1, title: LONG });
      await signInAsAdmin(page, program);
      const wrong =
        'invalid=title.missing&invalid=stock.too-large.10000000&invalid=zone.unknown-zone';
      for (const path of [
        '/admin/sales',
        '/admin/sales/new',
        `/admin/sales/new?${wrong}`,
        `/admin/sales/${sale}`,
        `/admin/sales/${sale}/orders`,
        `/admin/dead-letters?sale=${sale}`,
        '/admin/shops/new',
        '/admin/people',
        '/admin/people?invalid=shop_id.missing',
        '/admin/dead-letters',
        '/admin/rehearsals?invalid=on_production.missing',
        '/desk',
        '/desk?order=17',
        '/account',
        '/account?invalid=password.wrong-password',
      ]) {
        await open(page, path);
        await fits(page);
      }
    });
  });
}

test.describe('on the narrowest phone', () => {
  test.use({ viewport: { width: 360, height: 740 } });

  for (const locale of ['zh-CN', 'en-GB']) {
    test.describe(`in ${locale}`, () => {
      test.use({ locale });

      test('a long name leaves the brand whole', async ({ page }) => {
        for (const name of longNames()) {
          await joinQuickly(page, `${name}${locale === 'zh-CN' ? '' : 'e'}`);
          await open(page, '/');
          await fits(page);
          const brand = await page.locator('.brand').boundingBox();
          // One line is as high as a finger is wide.
          expect(brand?.height, name).toBeLessThanOrEqual(44);
          const way = await page.locator('.name').boundingBox();
          expect(way?.width, name).toBeGreaterThan(40);
          expect((way?.x ?? 0) + (way?.width ?? 0)).toBeLessThanOrEqual(360);
        }
      });
    });
  }
});

for (const width of [360, 1280]) {
  test(`a title of one long word fits into ${width} px`, async ({ page, admin, program }) => {
    await page.setViewportSize({ width, height: 800 });
    const shop = await admin.createShop(ONE_WORD, 'Wort', ONE_WORD.repeat(2));
    const sale = await admin.createSale({ shop, title: ONE_WORD });
    await signInAsAdmin(page, program);
    for (const path of [
      '/',
      `/shops/${shop}`,
      `/vouchers/${sale}`,
      '/admin/sales',
      `/admin/sales/${sale}`,
      `/admin/sales/${sale}/edit`,
      '/admin/shops',
      '/admin/people',
    ]) {
      await open(page, path);
      await fits(page);
      await tablesFit(page);
    }
  });
}

test('the figures of a sale stand in one row of a wide page', async ({ page, admin, program }) => {
  await page.setViewportSize({ width: 1280, height: 800 });
  const sale = await admin.createSale({ stock: 1_234_567 });
  await signInAsAdmin(page, program);
  await open(page, `/admin/sales/${sale}`);
  const tops = await page
    .locator('.figures > div')
    .evaluateAll((all) => all.map((figure) => figure.getBoundingClientRect().top));
  expect(tops.length).toBe(7);
  expect(new Set(tops).size).toBe(1);
  await fits(page);
});
