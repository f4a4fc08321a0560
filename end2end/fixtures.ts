// What every test starts with: a program of its worker, an admin, the consumer, and visitors who notice every fault.
import { type Page, test as base } from '@playwright/test';
import { Admin } from './admin';
import { Consumer } from './consumer';
import { Faults, checkAccess } from './faults';
import { Stage } from './pictures/stage';
import { STAGE, address } from './program/start';
import type { Address } from './program/stack';
import { Store } from './store';

interface OfTest {
  /** Whether scripts run in the pages of this project. */
  scripted: boolean;
  faults: Faults;
  /** Works, unless the test holds it. On stage it rests: an order that is made there stays in the queue. */
  consumer: Consumer;
  store: Store;
  /** Another visitor, in a browser of their own. */
  newVisitor: () => Promise<Page>;
}

export interface OfWorker {
  /** Whether the tests of this project look at the stage of the pictures, where nothing else happens. */
  onStage: boolean;
  stage: Stage;
  program: Address;
  admin: Admin;
  consumerOfWorker: Consumer;
}

export const test = base.extend<OfTest, OfWorker>({
  scripted: ({ javaScriptEnabled }, use) => use(javaScriptEnabled !== false),

  onStage: [false, { option: true, scope: 'worker' }],

  program: [
    async ({ onStage }, use, worker) => use(address(onStage ? STAGE : worker.parallelIndex)),
    { scope: 'worker' },
  ],

  stage: [
    async ({ playwright, program, admin, consumerOfWorker }, use) => {
      const { request } = playwright;
      const store = new Store(program);
      await use(await Stage.of(request, program, admin, consumerOfWorker, store));
    },
    { scope: 'worker' },
  ],

  admin: [
    async ({ playwright, program }, use) => {
      const request = await playwright.request.newContext({ baseURL: program.url });
      await use(await Admin.signIn(request, program));
      await request.dispose();
    },
    { scope: 'worker' },
  ],

  baseURL: ({ program }, use) => use(program.url),

  faults: async ({}, use) => {
    const faults = new Faults();
    await use(faults);
    faults.check();
  },

  consumerOfWorker: [
    async ({ program }, use) => {
      const consumer = new Consumer(program);
      await use(consumer);
      await consumer.hold();
    },
    { scope: 'worker' },
  ],

  consumer: [
    async ({ consumerOfWorker, onStage }, use) => {
      if (!onStage) consumerOfWorker.release();
      await use(consumerOfWorker);
    },
    { auto: true },
  ],

  store: ({ program }, use) => use(new Store(program)),

  context: async ({ context, faults, onStage }, use) => {
    await faults.watch(context);
    await use(context);
    // On stage a test of its own looks at every page, in every look.
    if (!onStage) await checkPages(context.pages());
  },

  newVisitor: async ({ browser, faults }, use) => {
    const pages: Page[] = [];
    await use(async () => {
      const context = await browser.newContext();
      await faults.watch(context);
      const page = await context.newPage();
      pages.push(page);
      return page;
    });
    for (const page of pages) {
      await checkPages(page.context().pages());
      await page.context().close();
    }
  },
});

export { expect } from '@playwright/test';

async function checkPages(pages: Page[]): Promise<void> {
  for (const page of pages.filter((open) => open.url().startsWith('http'))) {
    await checkAccess(page);
  }
}
