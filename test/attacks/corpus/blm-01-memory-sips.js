// @class: BLAME / memory of ICU in turns too short to be seen, beside an innocent plugin with long ones
// @drive: ponder
// @expect: moved, named
const [keep, locales] = [[], ['de', 'en', 'fr', 'ja', 'zh', 'ar', 'ru', 'th', 'hi', 'ko', 'es', 'pt', 'it', 'nl', 'pl', 'tr']];
let i = 0;
const grow = () => {
  const end = Date.now() + 6;
  while (Date.now() < end) keep.push(new Intl.DateTimeFormat(locales[i++ % 16] + '-u-ca-buddhist', { dateStyle: 'full', timeStyle: 'full' }));
  setTimeout(grow, 6);
};
setTimeout(grow, 1);
hook(() => undefined);
