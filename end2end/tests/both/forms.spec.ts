// Forms that are filled in wrongly: each field says what is wrong, and what was typed stays, in both languages.
import { expect, test } from '../../fixtures';
import { fillAccount, joinQuickly, newName, open, ready, signInAsAdmin } from '../../verbs';
import { type Language, words } from '../../words';

const LOCALES: [Language, string][] = [
  ['en', 'en-GB'],
  ['zh', 'zh-CN'],
];

for (const [language, locale] of LOCALES) {
  const t = words[language];

  test.describe(`in ${language}`, () => {
    test.use({ locale });

    test('sign-up names every problem at its field and keeps the name', async ({ page }) => {
      await open(page, '/sign-up?next=/orders');
      await fillAccount(page, 'x', 'short', t);
      await page
        .getByRole('main')
        .getByRole('button', { name: t('sign-up') })
        .click();
      await page.waitForURL(/invalid=/);
      await ready(page);

      await expect(page.getByRole('alert')).toHaveText(t('check-fields'));
      const name = page.getByLabel(t('field-name'));
      await expect(name).toHaveValue('x');
      await expect(name).toHaveAttribute('aria-invalid', 'true');
      await expect(name).toHaveAccessibleDescription(
        `${t('field-name-hint')} ${t('problem-too-short', { limit: 2 })}`,
      );
      await expect(name).toBeFocused();
      const password = page.getByLabel(t('field-password'));
      await expect(password).toHaveValue('');
      await expect(password).toHaveAccessibleDescription(
        `${t('field-password-hint')} ${t('problem-too-short', { limit: 8 })}`,
      );

      await fillAccount(page, newName(), undefined, t);
      await page
        .getByRole('main')
        .getByRole('button', { name: t('sign-up') })
        .click();
      await page.waitForURL('/orders'); // where the visitor was going is not forgotten
    });

    test('a name that is taken and a wrong password are said at their fields', async ({
      page,
      newVisitor,
    }) => {
      const name = await joinQuickly(await newVisitor());
      await open(page, '/sign-up');
      await fillAccount(page, name, undefined, t);
      await page
        .getByRole('main')
        .getByRole('button', { name: t('sign-up') })
        .click();
      await page.waitForURL(/invalid=/);
      await ready(page);
      await expect(page.getByText(t('problem-taken'))).toBeVisible();
      await expect(page.getByLabel(t('field-name'))).toHaveValue(name);

      await page
        .getByRole('main')
        .getByRole('link', { name: t('sign-in') })
        .click();
      await ready(page);
      await fillAccount(page, name, 'a wrong password', t);
      await page
        .getByRole('main')
        .getByRole('button', { name: t('sign-in') })
        .click();
      await page.waitForURL(/invalid=/);
      await ready(page);
      await expect(page.getByLabel(t('field-password'))).toHaveAccessibleDescription(
        t('problem-wrong-credentials'),
      );
      await expect(page.getByLabel(t('field-name'))).toHaveValue(name);
      expect(page.url()).not.toContain('wrong+password');
    });

    test('a form that is too large leads back to it and says so', async ({ page, program }) => {
      await signInAsAdmin(page, program);
      await open(page, '/admin/sales/new');
      const rules = page.locator('[name="rules"]');
      // As much as can be typed is read; what a program fills in may be more.
      await expect(rules).toHaveAttribute('maxlength', '2000');
      await rules.fill('券'.repeat(2000));
      await page.getByRole('button', { name: t('create-sale') }).click();
      await page.waitForURL(/invalid=rules\.too-long\.1000/);
      await ready(page);
      await expect(rules).toHaveValue('券'.repeat(2000));
      await open(page, '/admin/sales/new');
      await rules.evaluate((field) => field.removeAttribute('maxlength'));
      await rules.fill('券'.repeat(3000));
      await page.getByRole('button', { name: t('create-sale') }).click();
      await page.waitForURL(/\/admin\/sales\/new\?invalid=body\.too-many-bytes/);
      await ready(page);
      const [words] = t('problem-too-many-bytes', { limit: 0 }).split('0');
      await expect(page.getByRole('alert')).toContainText(words ?? '');
    });

    test('the form of a sale names every problem at its field and keeps what was typed', async ({
      page,
      program,
    }) => {
      await signInAsAdmin(page, program);
      await open(page, '/admin/sales/new');
      const field = (name: string) => page.locator(`[name="${name}"]`);
      const typed = {
        title: 'Fifty % off & more “quotes” 五折',
        subtitle: '',
        rules: '<b>one</b>\nper person',
        price: '10.285',
        face_value: 'free',
        stock: '1.5',
        begins_at: '2030-01-02T10:00',
        ends_at: '2030-01-02T09:00',
        zone: 'Mars/Olympus',
      };
      for (const [name, value] of Object.entries(typed)) await field(name).fill(value);
      await field('shop_id').selectOption({ index: 2 });
      const shop = await field('shop_id').inputValue();
      await page.getByRole('button', { name: t('create-sale') }).click();
      await page.waitForURL(/invalid=/);
      await ready(page);

      const problems = {
        price: 'problem-not-money',
        face_value: 'problem-not-money',
        stock: 'problem-not-a-number',
        zone: 'problem-unknown-zone',
      };
      for (const [name, key] of Object.entries(problems)) {
        await expect(field(name)).toHaveAttribute('aria-invalid', 'true');
        await expect(page.locator(`#${name}-error`)).toHaveText(t(key));
      }
      await expect(field('title')).not.toHaveAttribute('aria-invalid', 'true');
      for (const [name, value] of Object.entries(typed))
        await expect(field(name)).toHaveValue(value);
      await expect(field('shop_id')).toHaveValue(shop);

      await field('price').fill('60');
      await field('face_value').fill('50');
      await field('stock').fill('0');
      await field('zone').fill('Asia/Shanghai');
      await field('title').fill('字'.repeat(61));
      await page.getByRole('button', { name: t('create-sale') }).click();
      await page.waitForURL(/invalid=stock\.too-small/);
      await ready(page);
      await expect(page.locator('#title-error')).toHaveText(t('problem-too-long', { limit: 60 }));
      await expect(page.locator('#stock-error')).toHaveText(t('problem-too-small', { limit: 1 }));
      await expect(page.locator('#face_value-error')).toHaveText(t('problem-below-price'));
      await expect(page.locator('#ends_at-error')).toHaveText(t('problem-ends-before-begins'));
    });
  });
}
