// How this machine draws letters. Pictures can be compared with those of another machine only where both draw alike: the
// same Chromium with the same fonts. What is drawn is the proof of it.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import type { Browser } from '@playwright/test';

const RECORD = `${__dirname}/letters.txt`;

const SAMPLE = 'Flash sale ¥19.90 −41% 限时抢购 代金券 立即抢购 “您”';

/** Chromium's version, and a hash of a sample of letters as it draws them. */
export async function letters(browser: Browser, url: string): Promise<string> {
  const page = await browser.newPage({
    viewport: { width: 900, height: 300 },
    colorScheme: 'light',
  });
  await page.goto(`${url}/nowhere`); // for the style sheet
  await page.evaluate((sample) => {
    const lines = ['400 16px', '600 14px', '700 24px'].map((font) => {
      const line = document.createElement('p');
      line.textContent = sample;
      const [weight = '', size = ''] = font.split(' ');
      Object.assign(line.style, { fontWeight: weight, fontSize: size });
      return line;
    });
    document.body.replaceChildren(...lines);
  }, SAMPLE);
  const drawn = createHash('sha256')
    .update(await page.screenshot())
    .digest('hex')
    .slice(0, 16);
  await page.close();
  return `Chromium ${browser.version()} ${drawn}`;
}

/** What the committed pictures were drawn with. */
export function recordedLetters(): string {
  return readFileSync(RECORD, 'utf8').trim();
}

/** Notes it, when the pictures are taken anew. */
export function recordLetters(drawnWith: string): void {
  writeFileSync(RECORD, `${drawnWith}\n`);
}
