// Roles: an admin makes somebody the clerk of a shop, who then sees that shop's orders at the desk, until it is taken away.
import { expect, test } from '../../fixtures';
import { ADMIN } from '../../program/stack';
import { buy, joinQuickly, newName, open, openVoucher, ready, signIn, status } from '../../verbs';
import { say } from '../../words';

test('a clerk looks orders up at the desk of their shop, for as long as they are one', async ({
  page,
  newVisitor,
  program,
  admin,
  faults,
}) => {
  faults.expect(/status of 403/);
  const [ours, theirs] = [await admin.createSale({ shop: 9 }), await admin.createSale({ shop: 8 })];
  const name = newName();
  const clerk = await newVisitor();
  await joinQuickly(clerk, name);

  const office = await newVisitor();
  await open(office, '/admin/people');
  await signIn(office, ADMIN, program.adminPassword);
  await office.waitForURL('/admin/people');
  await ready(office);
  await office.getByLabel(say('field-name')).fill(name);
  await office.getByLabel(say('field-role')).selectOption('clerk');
  await office.getByRole('button', { name: say('give-role') }).click();
  await ready(office);
  await expect(office.getByText(say('problem-missing'))).toBeVisible();
  await office.getByLabel(say('field-shop-id')).selectOption('9');
  await office.getByRole('button', { name: say('give-role') }).click();
  await office.waitForURL('/admin/people?changed=role');
  await ready(office);
  const row = office.getByRole('row').filter({ hasText: name });
  await expect(row).toContainText(say('role-clerk'));

  await clerk.goto('/desk');
  await ready(clerk);
  await signIn(clerk, name);
  await clerk.waitForURL('/desk');
  await ready(clerk);
  await joinQuickly(page);
  const orders: string[] = [];
  for (const voucher of [ours, theirs]) {
    await openVoucher(page, voucher);
    orders.push(await buy(page));
    await expect(status(page)).toHaveText(say('status-confirmed'));
  }
  const lookUp = async (order: string): Promise<void> => {
    await clerk.getByLabel(say('field-order')).fill(order);
    await clerk.getByRole('button', { name: say('look-up') }).click();
    await clerk.waitForURL(`/desk?order=${order}`);
    await ready(clerk);
  };
  await lookUp(orders[0] ?? '');
  await expect(clerk.getByRole('status')).toContainText(say('status-confirmed'));
  await lookUp(orders[1] ?? '');
  await expect(clerk.getByRole('status')).toHaveText(say('no-such-order'));

  await row.locator('summary').click();
  await row.getByRole('button', { name: say('withdraw') }).click();
  await office.waitForURL('/admin/people?changed=role');
  await ready(office);
  await expect(row).toHaveCount(0);
  await clerk.goto('/desk');
  expect(new URL(clerk.url()).pathname).toBe('/sign-in');
  await ready(clerk);
  await signIn(clerk, name);
  await clerk.waitForURL('/desk');
  await expect(clerk.getByRole('heading', { level: 1 })).toHaveText(say('error-forbidden'));
});
