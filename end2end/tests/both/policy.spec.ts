// The policy that every page sends: nothing of ours breaks it, and what is put into a page can neither run nor send.
import type { Page } from '@playwright/test';
import type { Admin } from '../../admin';
import { expect, test } from '../../fixtures';
import {
  buy,
  buyButton,
  joinQuickly,
  open,
  openVoucher,
  ready,
  signInAsAdmin,
  status,
} from '../../verbs';
import { say } from '../../words';

// What breaks the policy anywhere fails its test by itself (fixtures.ts): here every page is looked at.

test('a guest meets no violation on any page', async ({ page, admin, faults }) => {
  faults.expect(/status of 404/);
  for (const path of [
    '/',
    '/?words=nothing',
    '/shops/1',
    '/shops/999999',
    '/no-such-page',
    '/sign-in?next=/orders',
    '/sign-in?invalid=password.wrong-credentials&name=x',
    '/sign-up?invalid=name.too-short.2&invalid=password.too-short.8&name=x',
  ]) {
    await open(page, path);
  }
  await openEveryPhase(page, admin);
});

test('a shopper meets no violation on any page', async ({
  page,
  context,
  admin,
  consumer,
  store,
  faults,
}) => {
  faults.expect(/status of 40[34]/);
  await joinQuickly(page);
  await openEveryPhase(page, admin);
  for (const path of ['/orders', '/orders/17', '/admin/sales', '/vouchers/1?outcome=sold_out']) {
    await open(page, path);
  }

  const voucher = await admin.createSale();
  const second = await context.newPage();
  await openVoucher(page, voucher);
  await openVoucher(second, voucher);
  await consumer.hold();
  await buy(page);
  await expect(status(page)).toHaveText(say('status-queued'));
  consumer.release();
  await expect(status(page)).toHaveText(say('status-confirmed'));
  await store.forgetBuyer(voucher);
  await buy(second);
  await expect(status(second)).toHaveText(say('status-refused'));
  for (const path of ['/orders', `/vouchers/${voucher}`]) await open(page, path);
});

test('an admin meets no violation on any page', async ({ page, admin, program }) => {
  await signInAsAdmin(page, program);
  for (const path of [
    '/admin',
    '/admin/sales?created=1',
    '/admin/sales/new',
    '/admin/sales/new?invalid=title.missing&invalid=stock.too-large.10000000&stock=x',
    '/admin/shops/new?invalid=name.missing',
    '/admin/dead-letters?letter=gone',
  ]) {
    await open(page, path);
  }
  await openEveryPhase(page, admin);
});

/** Opens vouchers of the demo data in the phases that a sale goes through. */
async function openEveryPhase(page: Page, admin: Admin): Promise<void> {
  await openVoucher(page, await admin.createSale({ beginsIn: 90_000, endsIn: 100_000 }));
  for (const [shop, phase] of Object.entries({ 1: 'running', 4: 'sold_out', 8: 'ended' })) {
    await open(page, `/shops/${shop}`);
    await page.locator(`.voucher[data-phase="${phase}"] a`).first().click();
    await page.waitForURL(/\/vouchers\//);
    await ready(page);
  }
}

const ELSEWHERE = 'http://elsewhere.example';
const PIXEL = 'data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=';
const BREAK = "document.documentElement.setAttribute('data-broken', '')";

test('what is put into a page neither runs, nor loads, nor sends anything elsewhere', async ({
  page,
  faults,
  scripted,
}) => {
  faults.expect(/violation of|Content Security Policy/);
  const said: string[] = [];
  page.on('console', (message) => said.push(message.text()));
  // Without script only Chromium's own words are heard, which name the rule that stands for several.
  const refused = async (directive: string) => {
    const words = scripted ? `violation of ${directive}` : directive.replace(/-(elem|attr)$/, '');
    await expect.poll(() => said.join('\n'), directive).toContain(words);
  };
  const asked: string[] = [];
  await page.route(`${ELSEWHERE}/**`, (route) => {
    asked.push(route.request().url());
    return route.abort();
  });
  await page.route('/vouchers/1', async (route) => {
    const answer = await route.fetch();
    const body = await answer.text();
    const broken = body
      .replace('<head>', `<head><base href="${ELSEWHERE}/">`)
      .replace('</main>', `${INJECTED}</main>`);
    await route.fulfill({ response: answer, body: broken });
  });
  await page.goto('/vouchers/1');
  await ready(page);
  await page.getByRole('link', { name: 'run script' }).click();
  const directives = [
    'base-uri',
    'frame-src',
    'img-src',
    'object-src',
    'style-src-attr',
    'style-src-elem',
  ];
  if (scripted) directives.push('script-src-attr', 'script-src-elem');
  for (const directive of directives) await refused(directive);
  await expect(page.locator('[data-broken]')).toHaveCount(0);
  await expect(page.locator('h1')).not.toHaveCSS('text-transform', 'uppercase');

  // By the keys, and last: whoever asks the page afterwards waits for where the form would have led.
  await page.getByRole('button', { name: 'send elsewhere' }).focus();
  await page.keyboard.press('Enter');
  await refused('form-action');
  expect(asked).toEqual([]);
  await page.close();
});

const INJECTED = `
  <script>${BREAK}</script>
  <script src="${ELSEWHERE}/script.js"></script>
  <img src="${PIXEL}" alt="" onload="${BREAK}" onerror="${BREAK}">
  <img src="${ELSEWHERE}/picture.png" alt="">
  <style>h1 { text-transform: uppercase }</style>
  <p style="display: none">hidden</p>
  <iframe src="/" title="frame"></iframe>
  <object data="/favicon.svg" type="image/svg+xml" title="object"></object>
  <form method="post" action="${ELSEWHERE}/"><button>send elsewhere</button></form>
  <a href="javascript:${BREAK}">run script</a>`;

test('a form of ours says where it comes from, with script and without', async ({
  page,
  admin,
  program,
}) => {
  const voucher = await admin.createSale();
  await joinQuickly(page);
  await openVoucher(page, voucher);
  const sent = page.waitForRequest((request) => request.url().endsWith('/api/buy'));
  await buyButton(page).click();
  const headers = await (await sent).allHeaders();
  expect(headers).toMatchObject({
    origin: program.url,
    referer: `${program.url}/vouchers/${voucher}`,
    'sec-fetch-site': 'same-origin',
  });
  await expect(status(page)).toHaveText(say('status-confirmed'));
});
