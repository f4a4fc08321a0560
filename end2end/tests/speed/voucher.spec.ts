// The voucher's page on a poor line and a slow phone: what is sent, when it can be read and used, and that nothing moves.
import type { CDPSession, Page } from '@playwright/test';
import { expect, test } from '../../fixtures';
import { arriveAtOrder, joinQuickly } from '../../verbs';

const LINE = {
  offline: false,
  latency: 150,
  downloadThroughput: 200_000,
  uploadThroughput: 100_000,
};
const SLOWER = 4; // times, than this machine

const READABLE_MS = 1500;
const BEFORE_WASM_BYTES = 60_000;
const WASM_BYTES = 90_000;

/** What came over the line, by kind, in bytes as they were sent. */
class Sent {
  private readonly kinds = new Map<string, string>();
  readonly bytes = new Map<string, number>();

  constructor(session: CDPSession) {
    session.on('Network.responseReceived', ({ requestId, response }) => {
      const path = new URL(response.url).pathname;
      const ending = /\.(css|js|wasm|svg)$/.exec(path)?.[1];
      this.kinds.set(requestId, ending ?? (path.startsWith('/api/') ? 'call' : 'html'));
    });
    session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
      const kind = this.kinds.get(requestId) ?? 'other';
      this.bytes.set(kind, (this.bytes.get(kind) ?? 0) + encodedDataLength);
    });
  }

  /** All that makes the page, but for the wasm and what the islands ask once they live. */
  beforeWasm(): number {
    const kinds = ['html', 'css', 'js', 'svg'];
    return kinds.reduce((sum, kind) => sum + (this.bytes.get(kind) ?? 0), 0);
  }
}

async function throttle(page: Page): Promise<CDPSession> {
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  await session.send('Network.emulateNetworkConditions', LINE);
  await session.send('Emulation.setCPUThrottlingRate', { rate: SLOWER });
  return session;
}

/** The times of a page's paints, in ms since its navigation, and how much has moved. */
interface Paints {
  first: number;
  largest: number;
  moved: number;
}

async function notePaints(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const paints: Paints = { first: 0, largest: 0, moved: 0 };
    Object.assign(window, { paints });
    const watch = (type: string, hear: (entry: PerformanceEntry) => void) =>
      new PerformanceObserver((list) => list.getEntries().forEach(hear)).observe({
        type,
        buffered: true,
      });
    watch('paint', (entry) => {
      if (entry.name === 'first-contentful-paint') paints.first = entry.startTime;
    });
    watch('largest-contentful-paint', (entry) => (paints.largest = entry.startTime));
    watch(
      'layout-shift',
      (entry) => (paints.moved += (entry as unknown as { value: number }).value),
    );
  });
}

const paints = (page: Page) =>
  page.evaluate(() => (window as unknown as { paints: Paints }).paints);

test.use({ viewport: { width: 360, height: 740 } });

test('it is read within a second and a half, and nothing moves', async ({ page, admin }) => {
  const voucher = await admin.createSale();
  await joinQuickly(page);
  const sent = new Sent(await throttle(page));
  await notePaints(page);
  await page.goto(`/vouchers/${voucher}`, { waitUntil: 'commit' });
  await page.locator('html[data-hydrated]').waitFor({ state: 'attached' });
  await page.evaluate(
    () => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))),
  );

  const seen = await paints(page);
  const bytes = Object.fromEntries(sent.bytes);
  test
    .info()
    .annotations.push({ type: 'measured', description: JSON.stringify({ ...seen, bytes }) });
  expect(seen.first).toBeGreaterThan(0);
  expect(seen.first).toBeLessThan(READABLE_MS);
  expect(seen.largest).toBeLessThan(READABLE_MS);
  expect(seen.moved).toBe(0);
  expect(sent.bytes.get('wasm')).toBeGreaterThan(1000);
  expect(sent.bytes.get('wasm')).toBeLessThanOrEqual(WASM_BYTES);
  expect(sent.beforeWasm()).toBeLessThanOrEqual(BEFORE_WASM_BYTES);
});

test('the button works from its first paint on, before any script', async ({ page, admin }) => {
  const voucher = await admin.createSale();
  await joinQuickly(page);
  await throttle(page);
  await notePaints(page);
  await page.route('**/*.{wasm,js}', () => undefined); // never answered
  await page.goto(`/vouchers/${voucher}`, { waitUntil: 'commit' });
  const button = page.locator('form[action="/api/buy"] button');
  await expect.poll(() => paints(page).then(({ first }) => first)).toBeGreaterThan(0);
  await expect(button).toBeInViewport({ ratio: 1 });
  await expect(button).toBeEnabled();
  expect((await paints(page)).first).toBeLessThan(READABLE_MS);

  await page.unroute('**/*.{wasm,js}');
  await button.click();
  await arriveAtOrder(page);
});

test('files with a hash in their name are kept for ever and come packed', async ({
  page,
  admin,
}) => {
  const voucher = await admin.createSale();
  const html = await (await page.request.get(`/vouchers/${voucher}`)).text();
  const files = new Set(html.match(/\/pkg\/seckill\.[0-9a-f]{16}\.(css|js|wasm)/g));
  expect([...files].map((file) => file.split('.').pop()).sort()).toEqual(['css', 'js', 'wasm']);
  for (const file of files) {
    const answer = await page.request.get(file, { headers: { 'accept-encoding': 'br, gzip' } });
    expect(answer.status(), file).toBe(200);
    expect(answer.headers(), file).toMatchObject({
      'content-encoding': 'br',
      'cache-control': 'public, max-age=31536000, immutable',
    });
  }
});
