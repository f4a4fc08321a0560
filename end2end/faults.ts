// What a visitor must never meet: errors in the console, errors thrown by a page, dialogs, anything that the page's own
// Content-Security-Policy forbids, and pages that not everybody can use.
import AxeBuilder from '@axe-core/playwright';
import { type BrowserContext, type Page, expect, test } from '@playwright/test';

/** Collects the errors of all pages of a test. */
export class Faults {
  private readonly found: string[] = [];
  private readonly expected: RegExp[] = [];

  async watch(context: BrowserContext): Promise<void> {
    context.on('console', (message) => {
      if (message.type() === 'error') {
        this.found.push(`${message.text()} (${message.location().url})`);
      }
    });
    context.on('weberror', (error) => this.found.push(`thrown: ${error.error().message}`));
    context.on('dialog', (dialog) => {
      this.found.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    // Chromium says most violations in the console by itself, also where no script runs; this says every one.
    await context.addInitScript(() => {
      document.addEventListener('securitypolicyviolation', (violation) => {
        console.error(`violation of ${violation.effectiveDirective}: ${violation.blockedURI}`);
      });
    });
  }

  /** An error that belongs to the test: Chromium writes every answer of 400 and above to the console. */
  expect(pattern: RegExp): void {
    this.expected.push(pattern);
  }

  check(): void {
    const unexpected = this.found.filter(
      (text) => !this.expected.some((known) => known.test(text)),
    );
    expect(unexpected, 'errors in the console').toEqual([]);
  }
}

/** Whether scripts run in the pages of this project. */
export function isScripted(): boolean {
  return test.info().project.use.javaScriptEnabled !== false;
}

const seen = new Set<string>();

/** An accessibility check, once for each state of a page; where scripts run, since it is one. */
export async function checkAccess(page: Page): Promise<void> {
  if (!isScripted()) return;
  const state = await stateOf(page);
  if (seen.has(state)) return;
  expect(await barriers(page), `what axe finds in ${state}`).toEqual([]);
  seen.add(state);
}

const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** What axe finds on a page as it is shown now, by all of these rules. */
export async function barriers(page: Page): Promise<string[]> {
  // Without a second page to gather what frames find: there are none. And without the proof of what is right.
  const axe = new AxeBuilder({ page }).setLegacyMode().options({
    resultTypes: ['violations'],
    runOnly: { type: 'tag', values: RULES },
    rules: { 'target-size': { enabled: true } }, // WCAG 2.5.8; off unless asked for
  });
  const { violations } = await axe.analyze();
  return violations.map(({ id, impact, nodes }) => {
    const where = nodes.map((node) => `${node.html}\n${node.failureSummary ?? ''}`);
    return `${impact ?? 'some'} ${id}: ${where.join('\n')}`;
  });
}

/** What tells one state of a page from another: all that the style sheet or a reader could see change. */
async function stateOf(page: Page): Promise<string> {
  const url = new URL(page.url());
  const path = url.pathname.replace(/[0-9a-f-]{36}|\d+/g, ':id');
  const marks = await page.evaluate(() => {
    const html = document.documentElement;
    const states = [...document.querySelectorAll('[data-phase], [data-status], [aria-invalid]')];
    const names = states.map(
      (element) =>
        element.getAttribute('data-phase') ??
        element.getAttribute('data-status') ??
        `invalid ${element.id}`,
    );
    const dark = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
    return [html.lang, dark, innerWidth, ...new Set(names)].join(' ');
  });
  return `${path} ${[...url.searchParams.keys()].join(' ')} ${marks}`;
}
