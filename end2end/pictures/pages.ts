// The pages that pictures are taken of, by name. To add one, add a line: what opens it, and who looks at it.
// `compared` ones are held against the committed pictures by tests/pictures; all are on the sheets of docs/screenshots.
import { type BrowserContext, expect } from '@playwright/test';
import { PASSWORD, newName } from '../verbs';
import type { Stage, Visitor } from './stage';

export interface Shown {
  name: string;
  /** Its address; what has to be done first is done as the visitor of this browser. */
  path: string | ((stage: Stage, visitor: BrowserContext) => string | Promise<string>);
  as: Visitor;
  compared?: true;
  /** The menu of the bar is open, where there is one. */
  menu?: true;
}

const WRONG_SALE = 'invalid=title.missing&invalid=price.not-money&price=a&invalid=ends_at.past';
const WRONG_NAME = 'invalid=name.too-short.2&invalid=password.too-short.8&name=x';

export const PAGES: Shown[] = [
  { name: 'front', path: '/', as: 'guest', compared: true },
  { name: 'front-menu', path: '/', as: 'shopper', menu: true },
  { name: 'search-nothing', path: '/?words=zzz', as: 'guest' },
  { name: 'shop', path: ({ shops }) => `/shops/${shops[0]}`, as: 'guest', compared: true },
  { name: 'voucher-guest', path: voucher('running'), as: 'guest' },
  { name: 'voucher-running', path: voucher('running'), as: 'newcomer', compared: true },
  { name: 'voucher-soon', path: voucher('soon'), as: 'newcomer', compared: true },
  { name: 'voucher-sold-out', path: voucher('soldOut'), as: 'newcomer', compared: true },
  { name: 'voucher-too-late', path: voucher('soldOut', '?outcome=sold_out'), as: 'newcomer' },
  { name: 'voucher-ended', path: voucher('ended'), as: 'newcomer', compared: true },
  { name: 'voucher-paused', path: voucher('paused'), as: 'newcomer', compared: true },
  { name: 'voucher-withdrawn', path: voucher('withdrawn'), as: 'newcomer' },
  { name: 'voucher-bought', path: voucher('bought'), as: 'shopper', compared: true },
  { name: 'order-queued', path: justBought, as: 'guest', compared: true },
  { name: 'order-confirmed', path: order('confirmed'), as: 'shopper', compared: true },
  { name: 'order-refused', path: order('refused'), as: 'shopper', compared: true },
  { name: 'orders', path: '/orders', as: 'shopper', compared: true },
  { name: 'orders-none', path: '/orders', as: 'newcomer', compared: true },
  { name: 'sign-in', path: '/sign-in', as: 'guest', compared: true },
  { name: 'sign-up-wrong', path: `/sign-up?${WRONG_NAME}`, as: 'guest', compared: true },
  { name: 'account', path: '/account', as: 'shopper' },
  { name: 'nowhere', path: '/nowhere', as: 'guest', compared: true },
  { name: 'desk', path: ({ orders }) => `/desk?order=${orders.confirmed}`, as: 'admin' },
  // Not compared: its figures are of the moment.
  { name: 'admin-sales', path: '/admin/sales', as: 'admin' },
  { name: 'admin-new-sale', path: '/admin/sales/new', as: 'admin' },
  { name: 'admin-new-sale-wrong', path: `/admin/sales/new?${WRONG_SALE}`, as: 'admin' },
  { name: 'admin-preview', path: preview, as: 'admin' },
  { name: 'admin-new-shop', path: '/admin/shops/new', as: 'admin' },
  { name: 'admin-sale', path: admin('running'), as: 'admin' },
  { name: 'admin-sale-orders', path: admin('soldOut', '/orders'), as: 'admin' },
  { name: 'admin-edit-sale', path: admin('soon', '/edit'), as: 'admin' },
  { name: 'admin-edit-old', path: admin('running', '/edit?invalid=version.old-form&title=x'), as: 'admin' },
  { name: 'admin-shops', path: '/admin/shops', as: 'admin' },
  { name: 'admin-edit-shop', path: ({ shops }) => `/admin/shops/${shops[0]}/edit`, as: 'admin' },
  { name: 'admin-shop-picture', path: ({ shops }) => `/admin/shops/${shops[0]}/picture`, as: 'admin' },
  { name: 'admin-people', path: '/admin/people', as: 'admin' },
  { name: 'admin-audit', path: ({ vouchers }) => `/admin/audit?sale=${vouchers.running}`, as: 'admin' },
  { name: 'admin-dead-letters', path: '/admin/dead-letters', as: 'admin' },
  { name: 'admin-rehearsals', path: '/admin/rehearsals', as: 'admin' },
];

function voucher(which: keyof Stage['vouchers'], query = ''): Shown['path'] {
  return ({ vouchers }) => `/vouchers/${vouchers[which]}${query}`;
}

function admin(which: keyof Stage['vouchers'], rest = ''): Shown['path'] {
  return ({ vouchers }) => `/admin/sales/${vouchers[which]}${rest}`;
}

function order(which: keyof Stage['orders']): Shown['path'] {
  return ({ orders }) => `/orders/${orders[which]}`;
}

function preview({ shops }: Stage): string {
  const form = new URLSearchParams({
    ...{ shop_id: `${shops[0]}`, stock: '1200', title: '四人火锅套餐', subtitle: '含锅底' },
    ...{ rules: '每桌限用一张。', price: '199', face_value: '399', zone: 'Asia/Shanghai' },
    ...{ begins_at: '2027-05-01T10:00', ends_at: '2027-05-02T10:00' },
  });
  return `/admin/sales/preview?${form}`;
}

/** An order of the moment, by somebody new: one that waits for long says so. */
async function justBought(stage: Stage, visitor: BrowserContext): Promise<string> {
  const headers = { accept: 'application/json' };
  const post = (call: string, form: Record<string, string | number>) =>
    visitor.request.post(`/api/${call}`, { form, headers });
  await post('sign_up', { name: newName(), password: PASSWORD });
  const answer = await post('buy', { voucher_id: stage.passing });
  expect(answer.status()).toBe(200);
  return `/orders/${((await answer.json()) as { order_id: string }).order_id}`;
}
