import { openHost } from "/work/main/src/index.ts";
const silent={debug(){},info(){},warn(){},error(){}};
const host = await openHost({ isolation: (process.argv[2]??'thread') as any, lanes: 1, logger: silent, plugins: [{id:'a',source:"export default (api)=>{ api.on('before_tool_call',(e)=>{ if (/rm -rf/.test(e.params.command)) return {block:true, blockReason:'no'}; }) }"}]});
const ev={toolName:'exec',params:{command:'ls -la /tmp',cwd:'/home/x'},runId:'r1',toolCallId:'t1'}, cx={toolName:'exec',agentId:'main',sessionKey:'agent:main:main'};
for (let r=0;r<6;r++){ const t=performance.now(); for(let i=0;i<5000;i++) await host.run('before_tool_call',ev,cx); console.log('seq',((performance.now()-t)/5000*1000).toFixed(1),'us');
 const t2=performance.now(); let n=0; await Promise.all(Array.from({length:64},async()=>{ while(n<20000){n++; await host.run('before_tool_call',ev,cx);} })); console.log('64:',(20000/(performance.now()-t2)).toFixed(1),'/ms'); }
await host.close();
