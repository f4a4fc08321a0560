// A page that holds still: without what depends on the clock, on chance or on the order of tests.
import type { BrowserContext, Page } from '@playwright/test';
import type { Shown } from './pages';
import type { Stage } from './stage';

/** Keeps the islands of a visitor's pages from starting, so that nothing moves; what is shown is the same. */
export async function stopIslands(visitor: BrowserContext): Promise<void> {
  await visitor.route('**/*.wasm', () => undefined); // never answered
}

/** Opens a page of the list, and lets it hold still. */
export async function show(page: Page, shown: Shown, stage: Stage): Promise<void> {
  const { path } = shown;
  await page.goto(typeof path === 'string' ? path : await path(stage, page.context()));
  await page.evaluate(hold, stage.passing);
  if (shown.menu) await openMenu(page);
}

/** Opens the menu of the bar, where the page is narrow enough to have one. */
async function openMenu(page: Page): Promise<void> {
  const button = page.locator('.menu-button');
  if (await button.isVisible()) await button.click();
}

/** In the browser: puts fixed words in the place of what differs from run to run, and takes a voucher off lists. */
function hold(passing: number): void {
  for (const link of document.querySelectorAll(`a[href="/vouchers/${passing}"]`)) {
    link.closest('li, tr')?.remove();
  }
  const put = (selector: string, words: (old: string) => string) => {
    for (const element of document.querySelectorAll(selector)) {
      element.textContent = words(element.textContent ?? '');
    }
  };
  put('time', (old) =>
    old.replace(/^[\d-]+ \d\d:\d\d(:\d\d)?/, (at) => '2026-12-01 10:00:00'.slice(0, at.length)),
  );
  for (const link of document.querySelectorAll('a[href^="/orders/"]')) {
    link.setAttribute('href', '/orders/01a22a7b-e58d-8000-8000-0598718532fd');
  }
  put('.clock', () => '23:59:59');
  put('code', (old) =>
    old.replace(/^[\da-f]{8}-[\da-f-]{27}$/, '01a22a7b-e58d-8000-8000-0598718532fd'),
  );
  put('.name bdi', (old) => old.replace(/^ann-.*/, '小美'));
  for (const input of document.querySelectorAll<HTMLInputElement>('input[name="order"]')) {
    input.value = '01a22a7b-e58d-8000-8000-0598718532fd';
  }
  if (document.activeElement instanceof HTMLElement) document.activeElement.blur(); // no caret, no ring
}
