// A page of another site that calls in the visitor's name (case O24): with every means a page has, it changes nothing.
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BrowserContext } from '@playwright/test';
import { isScripted } from '../../faults';
import { expect, test as base } from '../../fixtures';
import { ADMIN } from '../../program/stack';
import { PASSWORD, joinQuickly, newName, open, openVoucher, signInAsAdmin } from '../../verbs';
import { say } from '../../words';

type Fields = Record<string, string>;

/** Somebody else's site, on another port of this machine. */
class ForeignSite {
  private html = '';

  private constructor(private readonly server: Server) {
    server.on('request', (_, answer) => {
      answer.setHeader('content-type', 'text/html; charset=utf-8').end(this.html);
    });
  }

  static async start(): Promise<ForeignSite> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new ForeignSite(server);
  }

  /** Its address under a name of this machine, once it shows this. */
  showing(html: string, host: string): string {
    this.html = `<!doctype html><html lang="en"><title>prize</title><main><h1>prize</h1>${html}</main>`;
    return `http://${host}:${(this.server.address() as AddressInfo).port}/`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

const test = base.extend<{ foreign: ForeignSite }>({
  foreign: async ({}, use) => {
    const site = await ForeignSite.start();
    await use(site);
    await site.stop();
  },
});

// Of the first, browsers say "same-site", and send every cookie with its forms; of the second, "cross-site".
const HOSTS = ['127.0.0.1', 'localhost'];

for (const host of HOSTS) {
  test(`a page on ${host} buys, creates, signs in and signs out nothing`, async ({
    page,
    newVisitor,
    foreign,
    program,
    admin,
    store,
    faults,
    scripted,
  }) => {
    faults.expect(/status of 40[35]|ERR_BLOCKED_BY|ERR_ABORTED/);
    const voucher = await admin.createSale();
    const shop = `Foreign ${newName()}`;
    const other = await joinQuickly(await newVisitor());
    await signInAsAdmin(page, program);
    const calls: [string, Fields][] = [
      ['/api/buy', { voucher_id: `${voucher}` }],
      ['/api/admin/create_shop', { name: shop, category: 'x', address: 'x' }],
      ['/api/sign_in', { name: other, password: PASSWORD }],
      ['/api/sign_out', {}],
    ];
    for (const [path, fields] of calls) {
      const url = program.url + path;
      const query = `${url}?${new URLSearchParams(fields)}`;
      const attempts: [number, string][] = [
        [403, form('post', url, fields)],
        [403, form('post', url, fields, 'text/plain')],
        [405, form('get', url, fields)],
        [405, `<img src="${query.replaceAll('&', '&amp;')}" alt="">`],
      ];
      if (scripted) attempts.push([403, fetching(url, new URLSearchParams(fields).toString())]);
      for (const [status, html] of attempts) {
        const seen = await visit(page.context(), foreign.showing(html, host), url);
        expect([status, undefined], `${path}: ${html}`).toContain(seen);
      }
    }

    await open(page, `/?words=${encodeURIComponent(shop)}`);
    await expect(page.getByText(say('no-shops'))).toBeVisible();
    await expect(page.locator('.who .name')).toHaveText(ADMIN);
    await openVoucher(page, voucher);
    await expect(page.getByText(say('units-left-of', { left: 10, granted: 10 }))).toBeVisible();
    expect(await store.orders(voucher)).toEqual([]);
  });
}

test('no other site shows our pages in a frame', async ({ page, foreign, program, faults }) => {
  faults.expect(/frame-ancestors/);
  const html = `<iframe src="${program.url}/sign-in" title="frame"></iframe>`;
  const refused = page.waitForEvent('console', (message) =>
    message.text().includes('frame-ancestors'),
  );
  await page.goto(foreign.showing(html, 'localhost'));
  await refused;
  await expect(page.frameLocator('iframe').getByLabel(say('field-name'))).toHaveCount(0);
});

function form(method: string, url: string, fields: Fields, kind?: string): string {
  const inputs = Object.entries(fields).map(
    ([name, value]) => `<input type="hidden" name="${name}" value="${value}">`,
  );
  const encoding = kind ? ` enctype="${kind}"` : '';
  const send = '<script>document.forms[0].submit()</script>';
  return `<form method="${method}" action="${url}"${encoding}>${inputs.join('')}<button>go</button></form>${send}`;
}

function fetching(url: string, body: string): string {
  const init = { method: 'POST', mode: 'no-cors', credentials: 'include', body };
  return `<script>fetch('${url}', ${JSON.stringify(init)}).catch(() => {})</script>`;
}

/** Lets a foreign page do what it does, and gives the status of our answer, if the browser shows it to the page at all.
 *  Where no script runs, its button is pressed. */
async function visit(
  browser: BrowserContext,
  address: string,
  url: string,
): Promise<number | undefined> {
  const page = await browser.newPage();
  const called = page.waitForRequest((request) => request.url().split('?')[0] === url);
  await page.goto(address, { waitUntil: 'commit' });
  if (!isScripted() && (await page.locator('form').count())) {
    await page.getByRole('button', { name: 'go' }).click();
  }
  const answer = await (await called).response();
  await page.close();
  return answer?.status();
}
