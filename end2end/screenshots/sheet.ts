// A sheet of pictures: one page at every width, in both languages, light and dark, small enough to be kept with the sources.
import type { Browser } from '@playwright/test';
import { writeFile } from 'node:fs/promises';

export interface Picture {
  width: number;
  language: string;
  scheme: string;
  png: Buffer;
}

/** How large a picture is on the sheet, by the width of its page, and how much of a long page is shown. */
const SCALE: Record<number, number> = { 360: 0.75, 768: 0.5, 1280: 0.5 };
const TALLEST = 760;

const QUALITY = 55;

/** Writes the sheet as WebP. */
export async function writeSheet(
  browser: Browser,
  path: string,
  pictures: Picture[],
): Promise<void> {
  const page = await browser.newPage({ viewport: { width: 2900, height: 900 } });
  await page.setContent(html(pictures));
  const { width, height } = await page.evaluate(async () => {
    await Promise.all([...document.images].map((image) => image.decode()));
    return document.body.getBoundingClientRect();
  });
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send('Page.captureScreenshot', {
    format: 'webp',
    quality: QUALITY,
    captureBeyondViewport: true,
    clip: { x: 0, y: 0, width, height, scale: 1 },
  });
  await writeFile(path, Buffer.from(data, 'base64'));
  await page.close();
}

function html(pictures: Picture[]): string {
  const languages = [...new Set(pictures.map((picture) => picture.language))];
  const rows = languages.map((language) => {
    const own = pictures.filter((picture) => picture.language === language);
    return `<div class="row">${own.map(figure).join('')}</div>`;
  });
  return `<style>
    body { margin: 0; padding: 12px; width: max-content; background: #8a857f; font: 14px sans-serif; color: #fff }
    .row { display: flex; gap: 12px; margin-bottom: 12px }
    figure { margin: 0 } figcaption { padding-bottom: 4px }
    div > figure > div { overflow: hidden; max-height: ${TALLEST}px } img { display: block }
  </style>${rows.join('')}`;
}

function figure({ width, language, scheme, png }: Picture): string {
  const shown = Math.round(width * (SCALE[width] ?? 0.5));
  const source = `data:image/png;base64,${png.toString('base64')}`;
  return `<figure><figcaption>${width} px, ${language}, ${scheme}</figcaption>
    <div><img width="${shown}" src="${source}"></div></figure>`;
}
