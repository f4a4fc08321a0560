// The own account: another password, and the end of it.
import { expect, test } from '../../fixtures';
import { PASSWORD, open, ready, signIn, signUp } from '../../verbs';
import { say } from '../../words';

const BETTER = 'an even longer password';

test('another password signs out everywhere else, and the old one is worth nothing', async ({
  page,
  newVisitor,
}) => {
  const name = await signUp(page);
  const elsewhere = await newVisitor();
  await open(elsewhere, '/sign-in?next=%2Forders');
  await signIn(elsewhere, name);
  await elsewhere.waitForURL('/orders');

  await page.getByRole('link', { name }).click();
  await page.waitForURL('/account');
  await ready(page);
  const change = page.getByRole('button', { name: say('change-password') });
  await page.getByLabel(say('field-current-password')).fill('not my password');
  await page.getByLabel(say('field-new-password')).fill(BETTER);
  await change.click();
  await expect(page.getByText(say('problem-wrong-password'))).toBeVisible();
  await ready(page);
  await page.getByLabel(say('field-current-password')).fill(PASSWORD);
  await page.getByLabel(say('field-new-password')).fill('password1');
  await change.click();
  await expect(page.getByText(say('problem-too-common'))).toBeVisible();
  await ready(page);
  await page.getByLabel(say('field-current-password')).fill(PASSWORD);
  await page.getByLabel(say('field-new-password')).fill(BETTER);
  await change.click();
  await expect(page.getByRole('status')).toHaveText(say('changed-password'));
  await open(page, '/orders');

  await elsewhere.goto('/orders');
  expect(new URL(elsewhere.url()).pathname).toBe('/sign-in');
  await ready(elsewhere);
  await signIn(elsewhere, name);
  await expect(elsewhere.getByText(say('problem-wrong-credentials'))).toBeVisible();
  await ready(elsewhere);
  await signIn(elsewhere, name, BETTER);
  await elsewhere.waitForURL('/orders');
});

test('whoever deletes the account is a guest, and the name is free again', async ({ page }) => {
  const name = await signUp(page);
  await open(page, '/account');
  await page.locator('summary').click();
  const gone = page.getByRole('button', { name: say('delete-for-good') });
  await page.getByLabel(say('field-password'), { exact: true }).fill('not my password');
  await gone.click();
  // The part that was open is open again, with what is wrong.
  await expect(page.getByText(say('problem-wrong-password'))).toBeVisible();
  await ready(page);
  await page.getByLabel(say('field-password'), { exact: true }).fill(PASSWORD);
  await gone.click();
  await page.waitForURL('/');
  await expect(page.getByRole('banner').getByRole('link', { name: say('sign-in') })).toBeVisible();
  await signUp(page, '/', name);
});
