// An order that waits for long (case O16): never called a failure, asked about less and less often.
import type { Page } from '@playwright/test';
import { expect, test } from '../../fixtures';
import {
  buy,
  forgetStreams,
  joinQuickly,
  openVoucher,
  ready,
  setHidden,
  status,
  stopClock,
} from '../../verbs';
import { say } from '../../words';

const STEP_MS = 250;

/** A page whose time passes only when told to, and the times of its watch about the order. */
class Watch {
  private now = 0;
  private answer: Promise<unknown> | undefined;
  readonly asked: number[] = [];

  private constructor(private readonly page: Page) {
    page.on('request', (request) => {
      if (!request.url().includes('/api/order_status')) return;
      this.asked.push(this.now);
      this.answer = request.response().then((response) => response?.finished());
    });
  }

  /** Stops the page's time. */
  static async start(page: Page): Promise<Watch> {
    await stopClock(page);
    return new Watch(page);
  }

  /** Lets so much time pass, but none while an answer is on its way. */
  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += STEP_MS) {
      this.now += STEP_MS;
      await this.page.clock.runFor(STEP_MS);
      await this.answer;
      this.answer = undefined;
    }
  }

  get pauses(): number[] {
    return this.asked.slice(1).map((at, before) => at - (this.asked[before] ?? 0));
  }
}

test.beforeEach(async ({ page, admin, consumer }) => {
  await forgetStreams(page); // what is told by a stream is in live.spec.ts
  await consumer.hold();
  const voucher = await admin.createSale();
  await joinQuickly(page);
  await page.clock.install();
  await openVoucher(page, voucher);
});

test('it stays in the queue, with its number, after a reload and in my orders', async ({
  page,
  context,
  consumer,
}) => {
  const number = await buy(page);
  await expect(status(page)).toHaveText(say('status-queued'));
  await page.reload();
  await ready(page);
  await expect(status(page)).toHaveText(say('status-queued'));

  const second = await context.newPage();
  await second.goto('/orders');
  await ready(second);
  const listed = second.locator('.order', { hasText: number });
  await expect(listed).toContainText(say('status-queued'));

  consumer.release();
  await expect(status(page)).toHaveText(say('status-confirmed'));
  await second.reload();
  await expect(listed).toContainText(say('status-confirmed'));
});

test('after half a minute it says that it takes longer; after three minutes it still waits, then turns final', async ({
  page,
  consumer,
}) => {
  await buy(page);
  const watch = await Watch.start(page);
  await watch.pass(25_000);
  await expect(page.getByText(say('status-queued-hint'))).toBeVisible();
  await watch.pass(15_000);
  await expect(page.getByText(say('slow'))).toBeVisible();
  await watch.pass(140_000);
  await expect(status(page)).toHaveText(say('status-queued'));
  await expect(page.getByText(say('slow'))).toBeVisible();

  const { pauses } = watch;
  expect(Math.max(...pauses.slice(0, 2))).toBeLessThan(4000);
  expect(Math.min(...pauses.slice(-20))).toBeGreaterThanOrEqual(4750);
  expect(Math.max(...pauses)).toBeLessThan(6000);
  expect(watch.asked.length).toBeLessThan(50);

  consumer.release();
  await page.clock.resume();
  await expect(status(page)).toHaveText(say('status-confirmed'));
  await expect(page.getByText(say('status-confirmed-hint'))).toBeVisible();
});

test('nothing is asked while nobody looks, and at once when somebody looks again', async ({
  page,
  consumer,
}) => {
  await buy(page);
  const watch = await Watch.start(page);
  await watch.pass(10_000);
  expect(watch.asked.length).toBeGreaterThan(1);

  await setHidden(page, true);
  await watch.pass(STEP_MS); // what was under way
  const before = watch.asked.length;
  await watch.pass(60_000);
  expect(watch.asked.length).toBe(before);

  await setHidden(page, false);
  await expect.poll(() => watch.asked.length).toBe(before + 1);
  consumer.release();
  await page.clock.resume();
  await expect(status(page)).toHaveText(say('status-confirmed'));
});

test('ten seconds offline change nothing that the page says', async ({
  page,
  context,
  consumer,
  faults,
}) => {
  faults.expect(/ERR_INTERNET_DISCONNECTED/);
  await buy(page);
  const watch = await Watch.start(page);
  await watch.pass(2000);
  await context.setOffline(true);
  await watch.pass(10_000);
  await expect(status(page)).toHaveText(say('status-queued'));
  await expect(page.getByRole('alert')).toBeHidden();

  await context.setOffline(false);
  consumer.release();
  await page.clock.resume();
  await expect(status(page)).toHaveText(say('status-confirmed'));
});
