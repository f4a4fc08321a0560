// The picture of a shop: an admin sets it, shoppers see it, an admin takes it away.
import { expect, test } from '../../fixtures';
import { png } from '../../pictures';
import { ADMIN } from '../../program/stack';
import { open, ready, signIn } from '../../verbs';
import { say } from '../../words';

test('an admin sets a picture, shoppers see it, and it is taken away again', async ({
  page,
  admin,
  newVisitor,
  program,
}) => {
  const name = `Pictured ${Date.now()}`;
  const shop = await admin.createShop(name);
  const address = `/admin/shops/${shop}/picture`;
  await open(page, address);
  await signIn(page, ADMIN, program.adminPassword);
  await page.waitForURL(address);
  await ready(page);
  await expect(page.getByText(say('no-picture'))).toBeVisible();

  const choose = async (file: Buffer) => {
    const files = { name: 'anything.txt', mimeType: 'text/plain', buffer: file };
    await page.getByLabel(say('field-picture')).setInputFiles(files);
    await page.getByRole('button', { name: say('set-picture') }).click();
  };
  await choose(Buffer.from('GIF89a no picture of ours'));
  await page.waitForURL(/invalid=picture.not-a-picture/);
  await ready(page);
  await expect(page.getByText(say('problem-not-a-picture'))).toBeVisible();

  await choose(png(1500, 1000, [180, 60, 40]));
  await page.waitForURL(/changed=picture/);
  await ready(page);
  await expect(page.getByRole('status')).toHaveText(say('changed-picture'));
  const alt = say('picture-of', { shop: name });
  await expect(page.getByAltText(alt)).toHaveCount(2);

  const shopper = await newVisitor();
  await open(shopper, `/shops/${shop}`);
  const photo = shopper.getByAltText(alt);
  await expect(photo).toBeVisible();
  await expect(photo).toHaveAttribute('width', '1200');
  await expect(photo).toHaveAttribute('height', '800');
  const file = await shopper.request.get((await photo.getAttribute('src')) ?? '');
  expect(file.headers()['content-type']).toBe('image/jpeg');
  await open(shopper, `/?words=${encodeURIComponent(name)}`);
  await expect(shopper.getByAltText(alt)).toBeVisible();
  const voucher = await admin.createSale({ shop });
  await open(shopper, `/vouchers/${voucher}`);
  await expect(shopper.getByAltText(alt)).toBeVisible();

  await open(page, `/shops/${shop}`);
  await page.getByRole('link', { name: say('change-picture') }).click();
  await ready(page);
  await page.getByText(`${say('remove-picture')}…`).click();
  await page.getByRole('button', { name: say('remove-picture') }).click();
  await page.waitForURL(/changed=picture/);
  await ready(page);
  await open(shopper, `/shops/${shop}`);
  await expect(shopper.getByAltText(alt)).toHaveCount(0);
  await expect(shopper.locator('svg.tile text')).toHaveText('P');
});

test('a file that is too large is refused in words, and the page is still there', async ({
  page,
  program,
}) => {
  const address = '/admin/shops/1/picture';
  await open(page, address);
  await signIn(page, ADMIN, program.adminPassword);
  await page.waitForURL(address);
  await ready(page);
  const files = { name: 'large.png', mimeType: 'image/png', buffer: Buffer.alloc(6_000_000, 1) };
  await page.getByLabel(say('field-picture')).setInputFiles(files);
  await page.getByRole('button', { name: say('set-picture') }).click();
  await page.waitForURL(/invalid=picture.file-too-large/);
  await ready(page);
  await expect(page.getByText(say('problem-file-too-large', { limit: 5 }))).toBeVisible();
});

test('shops without a picture have a tile of the same size', async ({ page }) => {
  await open(page, '/');
  const tiles = page.locator('.cards.shops .tile');
  const sizes = await tiles.evaluateAll((all) =>
    all.map((tile) => {
      const { width, height } = tile.getBoundingClientRect();
      return `${Math.round(width)}x${Math.round(height)}`;
    }),
  );
  expect(new Set(sizes).size, sizes.join(' ')).toBe(1);
  await expect(page.locator('.cards.shops svg.tile').first()).toHaveAttribute('aria-hidden', 'true');
});
