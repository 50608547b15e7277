import { readFileSync, readdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { defineConfig } from 'vitepress'

// scripts/docs.sh copies this folder to build/docs. Made by prepare.py: the pages of docs/, and the reference.
const source = resolve(__dirname, '../source')

const page = (text: string, link: string) => ({ text, link })

// One entry for each C# type, in the sidebar of the reference.
const types = () =>
  readdirSync(resolve(source, 'api/csharp'))
    .filter((file) => file.endsWith('.md') && file !== 'index.md')
    .map((file) => ({ file, title: readFileSync(resolve(source, 'api/csharp', file), 'utf8').match(/^# (.*)$/m)![1] }))
    .filter(({ title }) => !title.startsWith('Namespace'))
    .map(({ file, title }) => page(title.replace(/^\w+ /, '').replace(/\\/g, ''), `/api/csharp/${file.slice(0, -3)}`))

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
        { text: 'C#', items: types() },
      ],
      '/': [
        {
          text: 'Begin',
          items: [page('Start in five minutes', '/start'), page('Installing', '/installing'), page('Choosing a transport', '/choosing'), page('Questions and answers', '/faq'), page('Moving to ipc', '/moving')],
        },
        {
          text: 'Use',
          items: [page('The .NET surface', '/dotnet'), page('The C ABI', '/abi'), page('Addresses', '/addresses'), page('What is promised', '/reliability'), page('Names', '/names'), page('WCF', '/wcf'), page('MS-RPC', '/msrpc')],
        },
        {
          text: 'Measure',
          items: [page('How it is measured', '/measurement'), page('Where the time goes', '/performance'), page('Findings', '/findings'), page('The report', '/report'), page('results.json', '/results-schema')],
        },
        {
          text: 'Inside',
          items: [page('Architecture', '/architecture'), page('Adding a transport', '/adding-a-transport'), page('Wire formats', '/wire-formats'), page('Runner and peer', '/peer-protocol'), page('Windows', '/windows')],
        },
      ],
    },
  },
})
