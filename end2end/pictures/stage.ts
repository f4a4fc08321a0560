// What the pictures show: a few shops with a sale in every phase, and a shopper with an order in every state. The same
// each time, but for what depends on the clock and on chance, which still.ts covers.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { type APIRequest, type BrowserContext, expect } from '@playwright/test';
import type { Admin } from '../admin';
import type { Consumer } from '../consumer';
import { ADMIN, type Address } from '../program/stack';
import type { Store } from '../store';
import { PASSWORD, newName } from '../verbs';

/** Who looks at a page. */
export type Visitor = 'guest' | 'newcomer' | 'shopper' | 'admin';

type Login = Awaited<ReturnType<BrowserContext['storageState']>>;

const SHOPS = [
  ['老巷子火锅', '美食', '上海市黄浦区南京东路 18 号'],
  ['一杯山茶', '饮品', '杭州市西湖区文三路 210 号'],
  ['北岸咖啡', '饮品', '上海市徐汇区武康路 101 号'],
  ['小满书店', '文化', '南京市鼓楼区广州路 35 号'],
  ['Noodle House', '美食', '1 Harbour Road, Hong Kong'],
  ['星轨影城', '文化', '武汉市江汉区解放大道 688 号'],
] as const;

const RULES =
  '每人限购一张。\n有效期三十天，过期自动失效。\n到店出示订单即可使用，不找零、不兑现。';

const DAY_S = 86_400;

/** The ids of what is on stage. */
export class Stage {
  private constructor(
    readonly shops: number[],
    /** Vouchers by the phase of their sale; `bought` is on sale, and the shopper has an order of it. */
    readonly vouchers: Record<'running' | 'bought' | 'soon' | 'soldOut' | 'ended' | 'paused' | 'withdrawn', number>,
    /** A voucher like the running one, for orders of the moment. Its units dwindle: no list shows it. */
    readonly passing: number,
    /** The shopper's orders. */
    readonly orders: Record<'confirmed' | 'refused', string>,
    readonly logins: Record<Visitor, Login | undefined>,
  ) {}

  /** What is on stage already, when a worker takes the place of one that has failed; else builds it. */
  static async of(
    request: APIRequest,
    program: Address,
    admin: Admin,
    consumer: Consumer,
    store: Store,
  ): Promise<Stage> {
    const note = `${program.env.SECKILL_STORES}/stage.json`; // goes with the stores
    if (existsSync(note)) return JSON.parse(readFileSync(note, 'utf8')) as Stage;
    const stage = await Stage.build(request, program, admin, consumer, store);
    writeFileSync(note, JSON.stringify(stage));
    return stage;
  }

  private static async build(
    request: APIRequest,
    program: Address,
    admin: Admin,
    consumer: Consumer,
    store: Store,
  ): Promise<Stage> {
    consumer.release();
    const shops: number[] = [];
    for (const [name, category, address] of SHOPS) {
      shops.push(await admin.createShop(name, category, address));
    }
    const [hotpot = 0, tea = 0, coffee = 0, books = 0, noodles = 0, cinema = 0] = shops;
    const rules = RULES;
    const lasting = { rules, endsIn: 2 * DAY_S };
    const soon = { ...lasting, beginsIn: DAY_S };
    const price = (now: string, face: string) => ({ price: now, faceValue: face });
    const ended = await admin.createSale({
      ...{
        shop: cinema,
        title: '爆米花双人套餐',
        subtitle: '含两杯可乐',
        stock: 30,
        rules,
        endsIn: 1,
      },
      ...price('15.00', '42.00'),
    });
    const running = {
      ...{ shop: hotpot, title: '100 元代金券', subtitle: '周一至周日均可使用', stock: 200 },
      ...{ ...lasting, ...price('59.00', '100.00') },
    };
    const vouchers = {
      running: await admin.createSale(running),
      bought: await admin.createSale({
        ...{ shop: tea, title: '任意大杯奶茶券', subtitle: '到店自取', stock: 500 },
        ...{ ...lasting, ...price('5.90', '18.00') },
      }),
      soon: await admin.createSale({
        ...{ shop: hotpot, title: '双人鸳鸯锅套餐', subtitle: '含锅底与八道菜', stock: 50 },
        ...{ ...soon, ...price('99.00', '198.00') },
      }),
      soldOut: await admin.createSale({
        ...{ shop: coffee, title: '手冲咖啡兑换券', subtitle: '七款豆子任选', stock: 1 },
        ...{ ...lasting, ...price('15.00', '38.00') },
      }),
      ended,
      paused: await admin.createSale({
        ...{ shop: cinema, title: '2D 电影票', subtitle: '周末通用', stock: 80 },
        ...{ ...lasting, ...price('28.00', '60.00') },
      }),
      withdrawn: await admin.createSale({
        ...{ shop: cinema, title: '包场券', subtitle: '仅限工作日', stock: 2 },
        ...{ ...lasting, ...price('880.00', '1600.00') },
      }),
    };
    await admin.switchSale('pause', vouchers.paused);
    await admin.switchSale('withdraw', vouchers.withdrawn);
    await admin.createSale({
      ...{ shop: noodles, title: 'Noodle set for one', subtitle: 'Any bowl with tea', stock: 150 },
      ...{ ...lasting, ...price('29.00', '58.00') },
    });
    const twice = await admin.createSale({
      ...{ shop: books, title: '50 元购书券', subtitle: '不与其他优惠同享', stock: 120 },
      ...{ ...lasting, ...price('30.00', '50.00') },
    });
    const passing = await admin.createSale(running);
    const shopper = await Caller.join(request, program.url, '小美');
    const confirmed = await shopper.buy(vouchers.bought);
    await shopper.buy(twice);
    await shopper.becomes(confirmed, 'confirmed');
    await expect.poll(() => store.orders(twice)).toHaveLength(1);
    await store.forgetBuyer(twice);
    const refused = await shopper.buy(twice);
    await shopper.becomes(refused, 'refused');
    const early = await Caller.join(request, program.url, newName());
    await early.becomes(await early.buy(vouchers.soldOut), 'confirmed');
    await expect.poll(() => shopper.phase(ended)).toBe('ended');
    const newcomer = await Caller.join(request, program.url, 'Johannes');
    await consumer.hold();
    const staff = await Caller.signIn(request, program.url, ADMIN, program.adminPassword);
    return new Stage(
      shops,
      vouchers,
      passing,
      { confirmed, refused },
      {
        guest: undefined,
        newcomer: await newcomer.login(),
        shopper: await shopper.login(),
        admin: await staff.login(),
      },
    );
  }
}

/** Somebody who uses the calls behind the pages. */
class Caller {
  private constructor(private readonly request: Awaited<ReturnType<APIRequest['newContext']>>) {}

  static join(request: APIRequest, url: string, name: string): Promise<Caller> {
    return Caller.enter(request, url, 'sign_up', { name, password: PASSWORD });
  }

  static signIn(request: APIRequest, url: string, name: string, password: string): Promise<Caller> {
    return Caller.enter(request, url, 'sign_in', { name, password });
  }

  private static async enter(
    request: APIRequest,
    baseURL: string,
    call: string,
    form: Record<string, string>,
  ): Promise<Caller> {
    const extraHTTPHeaders = { accept: 'application/json' };
    const caller = new Caller(await request.newContext({ baseURL, extraHTTPHeaders }));
    const answer = await caller.request.post(`/api/${call}`, { form });
    expect(answer.status(), await answer.text()).toBe(200);
    return caller;
  }

  login(): Promise<Login> {
    return this.request.storageState();
  }

  async buy(voucher: number): Promise<string> {
    const answer = await this.request.post('/api/buy', { form: { voucher_id: voucher } });
    const { order_id: order } = (await answer.json()) as { order_id?: string };
    if (!order) throw new Error(`no order of voucher ${voucher}: ${await answer.text()}`);
    return order;
  }

  async becomes(order: string, status: string): Promise<void> {
    await expect.poll(() => this.read(`order_status?order_id=${order}`, 'status')).toBe(status);
  }

  phase(voucher: number): Promise<unknown> {
    return this.read(`sale_status?voucher_id=${voucher}`, 'phase');
  }

  private async read(call: string, field: string): Promise<unknown> {
    const answer = await this.request.get(`/api/${call}`);
    return ((await answer.json()) as Record<string, unknown>)[field];
  }
}
