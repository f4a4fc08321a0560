// Pictures of the main pages, light and dark, by the name of the page; and the one of the README.
import type { Page } from '@playwright/test';
import { test } from '../fixtures';
import { ROOT } from '../program/child';
import { ADMIN } from '../program/stack';
import { buy, joinQuickly, open, openVoucher } from '../verbs';

const README = `${ROOT}/docs/screenshots/voucher.png`;
const FOLDER = process.env.SCREENSHOTS ?? `${ROOT}/target/screenshots`;

/** The shoppers, one for each round. */
const NAMES: Record<string, string> = {
  'phone light': '小美',
  'phone dark': '阿杰',
  'desk light': 'Mei',
  'desk dark': 'Johannes',
};

for (const colorScheme of ['light', 'dark'] as const) {
  test.describe(colorScheme, () => {
    test.use({ colorScheme });

    const shoot = async (page: Page, name: string) => {
      const { name: project } = test.info().project;
      const path = `${FOLDER}/${name}-${project}-${colorScheme}.png`;
      await page.screenshot({ path, fullPage: true, animations: 'disabled' });
    };

    test('what a guest sees', async ({ page, faults }) => {
      faults.expect(/status of 404/);
      const paths = { home: '/', shop: '/shops/1', 'sign-in': '/sign-in', 'not-found': '/nowhere' };
      for (const [name, path] of Object.entries(paths)) {
        await open(page, path);
        await shoot(page, name);
      }
      await open(page, '/sign-up?invalid=name.too-short.2&invalid=password.too-short.8&name=x');
      await shoot(page, 'sign-up-wrong');
      await page.goto('/');
      await page.locator('.voucher[data-phase="running"] a').first().click();
      await shoot(page, 'voucher-guest');
    });

    test('what a shopper sees', async ({ page, consumer }) => {
      const { name: project } = test.info().project;
      await joinQuickly(page, NAMES[`${project} ${colorScheme}`]);
      for (const phase of ['running', 'not_started', 'sold_out', 'ended']) {
        const shops = ['/', '/shops/8', '/shops/11'];
        for (const shop of shops) {
          await open(page, shop);
          const card = page.locator(`.voucher[data-phase="${phase}"] a`).first();
          if (!(await card.count())) continue;
          await openVoucher(page, Number((await card.getAttribute('href'))?.split('/').pop()));
          await shoot(page, `voucher-${phase}`);
          if (phase === 'running' && project === 'phone' && colorScheme === 'light') {
            await page.screenshot({ path: README });
          }
          break;
        }
      }
      await openVoucher(page, 1);
      await consumer.hold();
      await buy(page);
      await shoot(page, 'order-queued');
      await open(page, '/orders');
      await shoot(page, 'orders');
      consumer.release();
      await page.goBack();
      await page.locator('[data-status="confirmed"]').waitFor();
      await shoot(page, 'order-confirmed');
      await openVoucher(page, 1);
      await shoot(page, 'voucher-bought');
    });

    test('what an admin sees', async ({ page, program }) => {
      await page.request.post('/api/sign_in', {
        form: { name: ADMIN, password: program.adminPassword },
      });
      const paths = {
        'admin-sales': '/admin/sales?created=1',
        'admin-new-sale': '/admin/sales/new',
        'admin-new-sale-wrong':
          '/admin/sales/new?invalid=title.missing&invalid=price.not-money&price=a&invalid=ends_at.past',
        'admin-new-shop': '/admin/shops/new',
        'admin-sale': '/admin/sales/1?span=hours',
        'admin-sale-orders': '/admin/sales/1/orders',
        'admin-dead-letters': '/admin/dead-letters',
      };
      for (const [name, path] of Object.entries(paths)) {
        await open(page, path);
        await shoot(page, name);
      }
    });
  });
}
