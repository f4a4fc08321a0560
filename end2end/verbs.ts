// What visitors do, in the words of the product.
import { type Locator, type Page, expect } from '@playwright/test';
import { type Faults, checkAccess, isScripted } from './faults';
import { ADMIN, type Address } from './program/stack';
import { say, type Words } from './words';

export const PASSWORD = 'a long enough password';

const ORDER = /\/orders\/([0-9a-f-]{36})(\?.*)?$/;

let names = 0;

/** A name that nobody has. */
export function newName(): string {
  names += 1;
  return `ann-${Date.now().toString(36)}-${process.pid}-${names}`;
}

/** Opens an address and waits until the page is ready. */
export async function open(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await ready(page);
}

/** Waits until a page's islands live, and checks that everybody can use it. */
export async function ready(page: Page): Promise<void> {
  await page.waitForLoadState('domcontentloaded');
  if (isScripted()) {
    await page.locator('html[data-hydrated]').waitFor({ state: 'attached' });
  }
  await checkAccess(page);
}

/** Signs up through the form, coming back to `next`. */
export async function signUp(page: Page, next = '/', name = newName()): Promise<string> {
  await open(page, `/sign-up?next=${encodeURIComponent(next)}`);
  await fillAccount(page, name);
  await page
    .getByRole('main')
    .getByRole('button', { name: say('sign-up') })
    .click();
  await page.waitForURL(next);
  await ready(page);
  return name;
}

export async function fillAccount(page: Page, name: string, password = PASSWORD, t: Words = say) {
  await page.getByLabel(t('field-name')).fill(name);
  await page.getByLabel(t('field-password')).fill(password);
}

/** Signs in through the form that is open. */
export async function signIn(page: Page, name: string, password = PASSWORD): Promise<void> {
  await fillAccount(page, name, password);
  await page
    .getByRole('main')
    .getByRole('button', { name: say('sign-in') })
    .click();
}

/** Becomes a signed-in shopper without the detour over the form. */
export async function joinQuickly(page: Page, name = newName()): Promise<string> {
  const answer = await page.request.post('/api/sign_up', {
    form: { name, password: PASSWORD },
    headers: { accept: 'application/json' },
  });
  expect(answer.status()).toBe(200);
  return name;
}

/** Signs the admin in without the detour over the form. */
export async function signInAsAdmin(page: Page, program: Address): Promise<void> {
  const answer = await page.request.post('/api/sign_in', {
    form: { name: ADMIN, password: program.adminPassword },
    headers: { accept: 'application/json' },
  });
  expect(answer.status()).toBe(200);
}

export async function openVoucher(page: Page, voucher: number): Promise<void> {
  await open(page, `/vouchers/${voucher}`);
}

/** Where the sale of an open voucher page stands. */
export function phase(page: Page): Locator {
  return page.locator('.sale .badge');
}

/** The one button, whatever it says. */
export function buyButton(page: Page): Locator {
  return page.locator('form[action="/api/buy"]').getByRole('button');
}

/** Presses the button of an open voucher page, and gives the number of the order that it led to. */
export async function buy(page: Page): Promise<string> {
  await buyButton(page).click();
  return arriveAtOrder(page);
}

/** The number of the order whose page has been reached. */
export async function arriveAtOrder(page: Page): Promise<string> {
  // Not waitForURL: a second press breaks the first navigation off, which is no failure.
  await expect(page).toHaveURL(ORDER);
  await ready(page);
  const number = ORDER.exec(page.url())?.[1] ?? '';
  await expect(page.locator('.details code')).toHaveText(number);
  return number;
}

/** The order's state on its page. */
export function status(page: Page): Locator {
  return page.locator('.status-name');
}

/** Lets no stream through, as some proxies do: pages then ask by themselves. */
export async function deafen(page: Page, faults: Faults): Promise<void> {
  faults.expect(/ERR_FAILED.*\/live\//);
  await page.route('**/live/**', (route) => route.abort());
}

/** Makes of a browser one that knows no streams, before any page is loaded. */
export async function forgetStreams(page: Page): Promise<void> {
  await page.addInitScript(() => Reflect.deleteProperty(window, 'EventSource'));
}

/** What the browser does when its window is covered, or seen again. */
export async function setHidden(page: Page, hidden: boolean): Promise<void> {
  await page.evaluate((isHidden) => {
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => isHidden });
    const state = isHidden ? 'hidden' : 'visible';
    Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => state });
    document.dispatchEvent(new Event('visibilitychange'));
  }, hidden);
}

/** Stops a page's clock, which `page.clock.install()` has taken over. */
export async function stopClock(page: Page): Promise<void> {
  // It can stop in the future only; busy machines need a while to tell it so.
  await page.clock.pauseAt(await page.evaluate(() => Date.now() + 2000));
}
