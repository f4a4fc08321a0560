// What an admin does, through the calls that the forms make.
import { type APIRequestContext, expect } from '@playwright/test';
import type { Address } from './program/stack';
import { ADMIN } from './program/stack';

/** What a sale sells, and when: in seconds from now, or from an exact time. */
export interface Sale {
  shop: number;
  title: string;
  subtitle: string;
  rules: string;
  price: string;
  faceValue: string;
  stock: number;
  beginsIn: number;
  beginsAt: number;
  endsIn: number;
}

export class Admin {
  constructor(private readonly request: APIRequestContext) {}

  static async signIn(request: APIRequestContext, address: Address): Promise<Admin> {
    const admin = new Admin(request);
    await admin.call('sign_in', { name: ADMIN, password: address.adminPassword });
    return admin;
  }

  /** Creates a sale that runs now, unless told otherwise. Gives the voucher's id. */
  async createSale(sale: Partial<Sale> = {}): Promise<number> {
    const { shop = 9, title = 'Noodles for two', stock = 10, beginsIn = -60, endsIn = 3600 } = sale;
    const { beginsAt = inSeconds(beginsIn) } = sale;
    const { subtitle = 'Lunch only', rules = 'One per person.' } = sale;
    const { price = '19.90', faceValue = '45.00' } = sale;
    const created = await this.call<{ voucher_id: number }>('admin/create_sale', {
      shop_id: shop,
      title,
      subtitle,
      rules,
      price,
      face_value: faceValue,
      stock,
      begins_at: new Date(beginsAt).toISOString(),
      ends_at: new Date(inSeconds(endsIn)).toISOString(),
      zone: 'Asia/Shanghai',
    });
    return created.voucher_id;
  }

  /** Creates a shop whose every field says the same, unless told otherwise. Gives its id. */
  async createShop(name: string, category = name.slice(0, 20), address = name): Promise<number> {
    const created = await this.call<{ shop_id: number }>('admin/create_shop', {
      name,
      category,
      address,
    });
    return created.shop_id;
  }

  /** Pauses a sale, lets it go on, or calls it off. */
  async switchSale(action: 'pause' | 'resume' | 'withdraw', voucher: number): Promise<void> {
    await this.call(`admin/${action}_sale`, { voucher_id: voucher });
  }

  private async call<Answer>(name: string, form: Record<string, string | number>): Promise<Answer> {
    const answer = await this.request.post(`/api/${name}`, {
      form,
      headers: { accept: 'application/json' },
    });
    expect(answer.status(), `${name}: ${await answer.text()}`).toBe(200);
    return (await answer.json()) as Answer;
  }
}

function inSeconds(seconds: number): number {
  return Date.now() + seconds * 1000;
}
