import { readFileSync, readdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { defineConfig } from 'vitepress'

// scripts/docs.sh copies this folder to build/docs. Made by prepare.py: the pages of docs/, and the reference.
const source = resolve(__dirname, '../source')

const page = (text: string, link: string) => ({ text, link })

// One group for each namespace of C#, with an entry for each type.
const namespaces = () => {
  const folder = resolve(source, 'api/csharp')
  const groups = new Map<string, ReturnType<typeof page>[]>()
  for (const file of readdirSync(folder).filter((file) => file.endsWith('.md')).sort()) {
    const text = readFileSync(resolve(folder, file), 'utf8')
    const [, kind, title] = text.match(/^# (\w+) (.*?)(?: \{#.*\})?$/m)!
    if (kind === 'Namespace') continue
    const space = text.match(/^Namespace: \[([\w.]+)\]/m)![1]
    groups.set(space, [...(groups.get(space) ?? []), page(title.replace(/\\/g, ''), `/api/csharp/${file.slice(0, -3)}`)])
  }
  return [...groups].map(([space, items]) => ({ text: `C#: ${space}`, collapsed: space !== 'Ipc', items })).sort((a, b) => (a.text < b.text ? -1 : 1))
}

export default defineConfig({
  title: 'ipc',
  description: 'Fast, trustworthy communication between C++ and C# processes on one machine',
  base: process.env.DOCS_BASE ?? '/',
  srcDir: source,
  outDir: resolve(__dirname, '../../site'),
  cacheDir: resolve(__dirname, '../cache'),
  cleanUrls: false,
  lastUpdated: false,
  head: [['link', { rel: 'icon', type: 'image/png', href: `${process.env.DOCS_BASE ?? '/'}icon.png` }]],
  themeConfig: {
    logo: '/icon.png',
    search: { provider: 'local' },
    outline: { level: [2, 3] },
    nav: [page('Start', '/start'), page('Guide', '/dotnet'), page('Measured', '/performance'), page('Reference', '/api/')],
    sidebar: {
      '/api/': [
        { text: 'Reference', items: [page('Overview', '/api/'), page('C', '/api/c'), page('C++', '/api/cpp')] },
        ...namespaces(),
      ],
      '/': [
        {
          text: 'Begin',
          items: [page('Overview', '/overview'), page('Start in five minutes', '/start'), page('Installing', '/installing'), page('Choosing a transport', '/choosing'), page('Questions and answers', '/faq'), page('Moving to ipc', '/moving'), page('Examples', '/examples')],
        },
        {
          text: 'Use',
          items: [page('The .NET surface', '/dotnet'), page('The C ABI', '/abi'), page('.NET inside C++', '/hosting'), page('Addresses', '/addresses'), page('What is promised', '/reliability'), page('Names', '/names'), page('WCF', '/wcf'), page('MS-RPC', '/msrpc')],
        },
        {
          text: 'Measure',
          items: [page('How it is measured', '/measurement'), page('Where the time goes', '/performance'), page('Experiments', '/experiments'), page('Findings', '/findings'), page('The report', '/report'), page('results.json', '/results-schema')],
        },
        {
          text: 'Inside',
          items: [page('Architecture', '/architecture'), page('Adding a transport', '/adding-a-transport'), page('Wire formats', '/wire-formats'), page('Runner and peer', '/peer-protocol'), page('Windows', '/windows'), page('Contributing', '/contributing'), page('Security', '/security'), page('Changelog', '/changelog')],
        },
      ],
    },
  },
})
