// @class: MODULES / AsyncLocalStorage: thousands of stores, each promise carries all of them
// @expect: named
const { AsyncLocalStorage, AsyncResource } = require('async_hooks');
hook(async () => {
  const stores = [];
  const kept = [];
  for (;;) {
    const store = new AsyncLocalStorage();
    store.enterWith(new Array(1000).fill(stores.length));
    stores.push(store);
    for (let i = 0; i < 100; i++) kept.push(new AsyncResource('r').bind(() => store.getStore()), Promise.resolve().then(() => store.getStore()));
    await null;
  }
});
