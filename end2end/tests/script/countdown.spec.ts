// The countdown follows the server's clock, whatever the visitor's own clock says (case O30).
import type { Page } from '@playwright/test';
import { expect, test } from '../../fixtures';
import { buy, buyButton, joinQuickly, openVoucher, setHidden, stopClock } from '../../verbs';
import { say } from '../../words';

const MINUTES = 60_000;
const BEGINS_IN_S = 18;

/** Puts the visitor's clock wrong, before any page is loaded. */
async function shiftClock(page: Page, byMs: number): Promise<void> {
  await page.addInitScript(shift, byMs);
}

function shift(byMs: number): void {
  const RightDate = Date;
  class WrongDate extends RightDate {
    constructor(...args: [] | [number]) {
      if (args.length === 0) super(RightDate.now() + byMs);
      else super(...args);
    }
    static override now(): number {
      return RightDate.now() + byMs;
    }
  }
  window.Date = WrongDate as DateConstructor;
}

/** Notes, on a clock that nobody has put wrong, when the button first works. */
async function noteButton(page: Page): Promise<void> {
  await page.evaluate(() => {
    const button = document.querySelector<HTMLButtonElement>('button.buy');
    if (!button) throw new Error('there is no button');
    const note = () => {
      if (button.disabled) return;
      observer.disconnect();
      document.body.dataset.live = String(performance.timeOrigin + performance.now());
    };
    const observer = new MutationObserver(note);
    observer.observe(button, { attributes: true });
    note();
  });
}

async function liveAt(page: Page): Promise<number> {
  const live = page.locator('body[data-live]');
  await live.waitFor({ state: 'attached', timeout: 60_000 });
  return Number(await live.getAttribute('data-live'));
}

/** What the countdown shows is left, and what is left, at one and the same moment; in seconds. */
async function left(page: Page, beginsAt: number): Promise<[number, number]> {
  const [text, now] = await page.evaluate(() => {
    const shown = document.querySelector('.clock')?.textContent ?? '';
    return [shown, performance.timeOrigin + performance.now()] as const;
  });
  const [hours = 0, minutes = 0, seconds = 0] = text.split(':').map(Number);
  return [hours * 3600 + minutes * 60 + seconds, (beginsAt - now) / 1000];
}

test('visitors with wrong clocks, a changed clock or a frozen tab all get the button at the begin', async ({
  page,
  newVisitor,
  admin,
}) => {
  test.setTimeout(90_000);
  const visitors = {
    right: page,
    fast: await newVisitor(),
    slow: await newVisitor(),
    changed: await newVisitor(),
    frozen: await newVisitor(),
  };
  await shiftClock(visitors.fast, 10 * MINUTES);
  await shiftClock(visitors.slow, -10 * MINUTES);
  const pages = Object.values(visitors);
  for (const visitor of pages) await joinQuickly(visitor);
  const beginsAt = Date.now() + BEGINS_IN_S * 1000;
  const voucher = await admin.createSale({ beginsAt });
  const questions: number[] = [];
  await Promise.all(
    pages.map(async (visitor) => {
      visitor.on('request', (request) => {
        if (request.url().includes('/api/sale_status')) questions.push(Date.now() - beginsAt);
      });
      await openVoucher(visitor, voucher);
      await noteButton(visitor);
    }),
  );
  await visitors.changed.evaluate(shift, 10 * MINUTES);
  const session = await visitors.frozen.context().newCDPSession(visitors.frozen);
  await session.send('Page.setWebLifecycleState', { state: 'frozen' });

  const awake = pages.filter((visitor) => visitor !== visitors.frozen);
  for (const visitor of awake) {
    await expect(buyButton(visitor)).toBeDisabled();
    const [shown, really] = await left(visitor, beginsAt);
    // Whole seconds, rounded up; a busy machine shows the next one a little late.
    expect(shown - really).toBeGreaterThan(-1);
    expect(shown - really).toBeLessThan(2);
  }
  for (const visitor of awake) {
    const late = (await liveAt(visitor)) - beginsAt;
    expect(late).toBeGreaterThanOrEqual(-250);
    expect(late).toBeLessThan(2000);
  }
  const wokenAt = Date.now();
  await session.send('Page.setWebLifecycleState', { state: 'active' });
  expect((await liveAt(visitors.frozen)) - wokenAt).toBeLessThan(2000);

  // Nobody asks in the last seconds, so that not everybody asks in the same instant.
  expect(questions.filter((at) => at > -5000 && at < 250)).toEqual([]);
  await Promise.all(pages.map(buy));
});

test('a machine that sleeps over the begin has the button when somebody looks again', async ({
  page,
  admin,
}) => {
  await joinQuickly(page);
  await page.clock.install();
  const voucher = await admin.createSale({ beginsIn: 12 });
  await openVoucher(page, voucher);
  await expect(buyButton(page)).toBeDisabled();
  await setHidden(page, true);
  await stopClock(page);

  await expect
    .poll(async () => (await page.request.get(`/api/sale_status?voucher_id=${voucher}`)).text(), {
      timeout: 20_000,
    })
    .toContain('"running"');
  await expect(buyButton(page)).toBeDisabled();
  await page.clock.resume();
  await setHidden(page, false);
  await expect(buyButton(page)).toBeEnabled({ timeout: 2000 });
  await buy(page);
});

test('the button works as a plain form while the script is still on its way', async ({
  page,
  admin,
}) => {
  const voucher = await admin.createSale();
  await joinQuickly(page);
  await page.route('**/*.wasm', () => undefined); // never answered
  await page.goto(`/vouchers/${voucher}`, { waitUntil: 'commit' });
  await buyButton(page).click();
  await page.waitForURL(/\/orders\//);
});

test('what is shown is the same before and after the script starts', async ({ page, admin }) => {
  const voucher = await admin.createSale({ title: 'Same', endsIn: 90_000 });
  await joinQuickly(page);
  const html = await (await page.request.get(`/vouchers/${voucher}`)).text();
  await openVoucher(page, voucher);
  const fromServer = await page.evaluate((text) => {
    const document = new DOMParser().parseFromString(text, 'text/html');
    return document.querySelector('.offer')?.textContent ?? '';
  }, html);
  const withoutClock = (text: string) => text.replace(/\d\d:\d\d:\d\d/, 'clock');
  const shown = await page.locator('.offer').textContent();
  expect(withoutClock(shown ?? '')).toBe(withoutClock(fromServer));
  expect(shown).toContain(say('button-running'));
});
