// The whole way to an order with nothing but a keyboard: every stop is seen, none is covered, and focus is never lost.
import { type Locator, type Page, expect } from '@playwright/test';
import { test } from '../../fixtures';
import { PASSWORD, arriveAtOrder, newName, open, ready, status } from '../../verbs';
import { say } from '../../words';

const MOST_STOPS = 80;

/** Goes on with Tab until this has the focus. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await expect(target).toHaveCount(1);
  for (let stop = 0; stop < MOST_STOPS; stop += 1) {
    await page.keyboard.press('Tab');
    expect(await page.evaluate(sightOfFocus), page.url()).toBe('seen');
    if (await target.evaluate((element) => element === document.activeElement)) return;
  }
  throw new Error(`${MOST_STOPS} stops of the keyboard do not lead to ${String(target)}`);
}

/** In the browser: whether what has the focus shows it, and is not covered whole (WCAG 2.4.7 and 2.4.11). */
function sightOfFocus(): string {
  const element = document.activeElement;
  if (!element || element === document.body) return 'seen'; // between the last stop and the first
  if (getComputedStyle(element).outlineStyle === 'none') return `no outline: ${element.outerHTML}`;
  const { left, right, top, bottom } = element.getBoundingClientRect();
  const across = [left + 3, (left + right) / 2, right - 3];
  const down = [top + 3, (top + bottom) / 2, bottom - 3];
  const points = across.flatMap((x) => down.map((y) => document.elementFromPoint(x, y)));
  const isSeen = points.some(
    (found) => found && (element.contains(found) || found.contains(element)),
  );
  return isSeen ? 'seen' : `covered: ${element.outerHTML}`;
}

for (const size of [
  { width: 360, height: 740 },
  { width: 1280, height: 800 },
]) {
  test.describe(`at ${size.width} px`, () => {
    test.use({ viewport: size });

    test('a shopper buys with the keyboard alone', async ({ page, admin }) => {
      const shop = await admin.createShop(`Keys ${newName()}`);
      const voucher = await admin.createSale({ shop, title: 'Keys and more' });
      await open(page, `/shops/${shop}`);
      await tabTo(page, page.getByRole('link', { name: say('skip') }));
      await page.keyboard.press('Enter');
      await expect(page.getByRole('main')).toBeFocused();

      await tabTo(page, page.getByRole('link', { name: 'Keys and more' }));
      await page.keyboard.press('Enter');
      await page.waitForURL(`/vouchers/${voucher}`);
      await ready(page);
      await tabTo(page, page.getByRole('link', { name: say('sign-in-to-buy') }));
      await page.keyboard.press('Enter');
      await ready(page);
      await tabTo(page, page.getByRole('main').getByRole('link', { name: say('sign-up') }));
      await page.keyboard.press('Enter');
      await page.waitForURL(/sign-up/);
      await ready(page);
      await tabTo(page, page.getByLabel(say('field-name')));
      await page.keyboard.type(newName());
      await tabTo(page, page.getByLabel(say('field-password')));
      await page.keyboard.type(PASSWORD);
      await page.keyboard.press('Enter');

      await page.waitForURL(`/vouchers/${voucher}`);
      await ready(page);
      await tabTo(page, page.getByRole('button', { name: say('button-running') }));
      await page.keyboard.press('Enter');
      await arriveAtOrder(page);
      await expect(status(page)).toHaveText(say('status-confirmed'));
      await tabTo(page, page.getByRole('main').getByRole('link', { name: say('my-orders') }));
      await page.keyboard.press('Enter');
      await page.waitForURL('/orders');
      await tabTo(page, page.getByRole('link', { name: 'Keys and more' }));
    });
  });
}

test.describe('on a phone', () => {
  test.use({ viewport: { width: 360, height: 740 } });

  test('the menu opens and closes by key, and holds what the bar has no room for', async ({
    page,
  }) => {
    await open(page, '/sign-up');
    const button = page.getByRole('button', { name: say('menu') });
    await tabTo(page, button);
    await page.keyboard.press('Enter');
    const menu = page.getByRole('navigation', { name: say('main-ways') });
    await tabTo(page, menu.getByRole('link', { name: say('my-orders') }));
    await page.keyboard.press('Escape');
    await expect(menu).toBeHidden();
    await expect(button).toBeFocused();

    await page.keyboard.press('Enter');
    await tabTo(page, menu.getByRole('link', { name: say('sign-up') }));
  });

  test('the bar keeps to one line, whatever the visitor is called', async ({ page, program }) => {
    const name = `一位名字很长很长的顾客${Date.now()}`;
    for (const locale of ['zh', 'en']) {
      await page.context().addCookies([{ name: 'lang', value: locale, url: program.url }]);
      await open(page, '/');
      expect((await page.locator('.bar').boundingBox())?.height).toBeLessThanOrEqual(57);
    }
    await page.request.post('/api/sign_up', {
      form: { name, password: PASSWORD },
      headers: { accept: 'application/json' },
    });
    await open(page, '/');
    expect((await page.locator('.bar').boundingBox())?.height).toBeLessThanOrEqual(57);
    await page.getByRole('button', { name: say('menu') }).click();
    await page.getByRole('button', { name: say('sign-out') }).click();
    await expect(page.getByRole('link', { name: say('sign-in') })).toBeVisible();
  });
});
