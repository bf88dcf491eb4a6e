// @class: MODULES / routes and command lines without number, with names that are pages long
// @expect: stopped
for (let i = 0; i < 200_000; i++) {
  api.registerHttpRoute({ path: '/' + 'p'.repeat(1000) + i, auth: 'plugin', handler: () => {} });
  api.registerCli(({ program }) => { let at = program; for (let j = 0; j < 1000; j++) at = at.command('c' + j).description('d'.repeat(10_000)).option('--o' + j); }, { commands: ['c' + i] });
}
hook(() => undefined);
