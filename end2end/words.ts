// The words of the pages, from the files that the pages take them from.
import { readFileSync } from 'node:fs';

export type Language = 'en' | 'zh';
export type Words = (key: string, values?: Record<string, string | number>) => string;

function read(language: Language): Words {
  const file = readFileSync(`${__dirname}/../app/texts/${language}/main.ftl`, 'utf8');
  const texts = new Map(
    [...file.matchAll(/^([\w-]+) = (.*)$/gm)].map(([, key = '', text = '']) => [key, text]),
  );
  return (key, values = {}) => {
    const text = texts.get(key);
    if (text === undefined) throw new Error(`there are no words ${key} in ${language}`);
    return text.replace(/\{ \$(\w+) \}/g, (_, name: string) => String(values[name]));
  };
}

export const words: Record<Language, Words> = { en: read('en'), zh: read('zh') };

/** English, the language of most tests. */
export const say = words.en;
