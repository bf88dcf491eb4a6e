import { LaneClient } from "./src/host/lanes/lane-client.ts";
import { prepare } from "./src/host/runner/prepare.ts";
import { drive } from "./src/host/runner/drive.ts";
import { CATALOG } from "./src/protocol/catalog.ts";
import { pack } from "./src/protocol/frame.ts";
import { Lane } from "./src/sandbox/lane.ts";
import { writeRun } from "./src/protocol/hot.ts";
import { chainRule } from "./src/protocol/chain-rule.ts";
import { guestCode } from "./src/host/guest-code.ts";
import { bundleText } from "./src/host/bundle.ts";
const hook = CATALOG.before_tool_call as any;
const ev={toolName:'exec',params:{command:'ls -la /tmp',cwd:'/home/x'},runId:'r1',toolCallId:'t1'}, cx={toolName:'exec',agentId:'main',sessionKey:'agent:main:main'};
let onf:any; const link={onFrames:(f:any)=>{onf=f},onEnd(){},send(fs:readonly string[]){ for(const f of fs){ if(f[0]==='R'){ const id=f.slice(1,f.indexOf(',')); queueMicrotask(()=>onf([`A${id},1;0,0,10,10,0\n`])); } } },close(){}};
const lane=new LaneClient(0,{message(){},condemned(w:string){console.log('condemned',w)}}); lane.connect(link,[]); onf([pack({kind:'ready',version:1})]);
const handler:any={plugin:{id:'a',hooks:{},bundle:undefined},lane,priority:0,filter:undefined,needsAuthority:false,isReentrant:false,step:[0,0,15000,100]}; const plan=[handler];
async function bench(n:string,f:()=>any,k=100000){ for(let i=0;i<20000;i++) await f(); const t=performance.now(); for(let i=0;i<k;i++) await f(); console.log(n,((performance.now()-t)/k*1000).toFixed(2)); }
const chain={rootRunId:'x',depth:0,path:[],by:undefined}; let c=0;
const prepared=prepare(hook,ev,cx);
for (let r=0;r<2;r++){
await bench('await nothing',()=>{});
await bench('prepare',()=>{prepare(hook,ev,cx)});
await bench('  event zod',()=>{hook.event.safeParse(ev)});
await bench('  ctx zod',()=>{hook.context.safeParse(cx)});
await bench('  2x stringify',()=>{JSON.stringify(ev);JSON.stringify(cx)});
await bench('drive only',()=>new Promise((resolve,reject)=>drive({...prepared,runId:'x',cause:++c,chain,hook,plan,failure:'closed'} as any,undefined,{resolve,reject})));
await bench('prepare+drive',()=>new Promise((resolve,reject)=>drive({...prepare(hook,ev,cx),runId:'x',cause:++c,chain,hook,plan,failure:'closed'} as any,undefined,{resolve,reject})));
}
// lane only
const b=await bundleText("export default (api)=>{ api.on('before_tool_call',(e)=>{ if (/rm -rf/.test(e.params.command)) return {block:true, blockReason:'no'}; }) }");
let lf:any; let out=0; const llink={onFrames:(f:any)=>{lf=f},onEnd(){},send(fs:any){out+=fs.length},close(){}};
const L=new Lane(llink); lf([pack({kind:'hello',version:1,rules:{before_tool_call:chainRule(hook)}},await guestCode())]); lf([pack({kind:'open',cell:0,plugin:'a',heapMb:32},b.code,JSON.stringify({id:'a'}))]); lf([pack({kind:'route',route:0,hook:'before_tool_call',mode:'chain',steps:[[0,0,15000,100]]})]);
let id=0; const e=prepared.eventText,x=prepared.contextText;
function bs(n:string,f:()=>void,k=30000){ for(let i=0;i<5000;i++) f(); const t=performance.now(); for(let i=0;i<k;i++) f(); console.log(n,((performance.now()-t)/k*1000).toFixed(2)); }
for(let r=0;r<2;r++){ bs('lane serve 1',()=>{lf([writeRun({id:++id,cause:id,route:0,from:0,chains:true,event:e,context:x})])});
const many=()=>Array.from({length:64},()=>writeRun({id:++id,cause:id,route:0,from:0,chains:true,event:e,context:x})); bs('lane serve 64 (each)',()=>{lf(many())},500); }
process.exit(0)
