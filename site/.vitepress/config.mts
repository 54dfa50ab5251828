import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitepress'

const repository = fileURLToPath(new URL('../..', import.meta.url))
const forge = 'https://github.com/cardgateway/cardgateway-go'

// The files that are pages, with their names on the site. All others are on the forge.
const pages: Record<string, string> = {
  'README.md': 'index.md',
  'CHANGELOG.md': 'changelog.md',
  'CONTRIBUTING.md': 'contributing.md',
  'SECURITY.md': 'security.md',
  'faults/RESULTS.md': 'results.md',
  'bench/RESULTS.md': 'benchmarks.md',
  'examples/shop/README.md': 'shop.md',
}
const siteOf = (file: string) =>
  pages[file] ?? (/^docs\/[\w-]+\.md$/.test(file) ? file.slice('docs/'.length) : /^site\/api\/[\w-]+\.md$/.test(file) ? file.slice('site/'.length) : undefined)

// The pages are read on the forge too, where their links lead to files. On the site they lead to its pages, or to the forge.
const link = (href: string, from: string) => {
  const [path, hash] = href.split(/(?=#)/)
  if (/^(#|[a-z]+:)/.test(href)) return href
  const file = relative(repository, resolve(dirname(from), path))
  const page = siteOf(file)
  if (page) return '/' + page + (hash ?? '')
  if (!existsSync(join(repository, file))) throw new Error(`${from}: there is no ${href}`)
  return `${forge}/blob/main/${file}${hash ?? ''}`
}

// A heading has the id that the forge gives it.
const slugify = (heading: string) => heading.trim().toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-')

// The width and height of an SVG with a viewBox, or of a PNG.
const sizeOf = (picture: Buffer): string[] =>
  picture.toString('utf8', 0, 2000).match(/viewBox="0 0 ([\d.]+) ([\d.]+)"/)?.slice(1) ?? [16, 20].map((at) => `${picture.readUInt32BE(at)}`)

// What the search finds: not the pages about the project itself, whose words are those of all others. A name in a heading is a link to
// its code, which the search would leave out.
const aboutTheProject = ['names.md', 'architecture.md', 'proof.md', 'results.md', 'benchmarks.md', 'contributing.md', 'changelog.md']
const searched = (file: string, html: string) =>
  aboutTheProject.includes(siteOf(file) ?? file) ? '' : html.replace(/(<h[1-6][^>]*>[^<]*)<a href="https?:[^>]*>(.*?)<\/a>/g, '$1$2')

export default defineConfig({
  srcDir: '..',
  srcExclude: ['faults/simulation/**', 'testdata/**', 'examples/**/testdata/**'],
  rewrites: (file) => siteOf(file) ?? file,
  title: 'cardgateway-go',
  description: 'A Go client for a card payment gateway',
  lang: 'en',
  // The pages are outside of this directory, where Vite does not find its modules when it renders them.
  vite: {
    plugins: [
      {
        name: 'modules-of-pages',
        enforce: 'pre',
        resolveId: (id, _, { ssr }) => (ssr && /^vue(\/server-renderer)?$/.test(id) ? { id, external: true } : null),
      },
    ],
  },
  router: { prefetchLinks: false },
  // The theme's script adds these classes: without them the bar at the top moves while a page is loaded.
  transformHtml: (html, file) => (file.endsWith('404.html') ? html : html.replace('class="VPNavBar"', 'class="VPNavBar has-sidebar top"')),
  markdown: {
    anchor: { slugify },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    config: (md) => {
      md.core.ruler.push('links', ({ tokens, env }) => {
        for (const token of tokens.flatMap((t) => t.children ?? t)) {
          token.content = token.type.startsWith('html') ? token.content.replace(/ (src|srcset)="(?=\w)(?!\w+:)/g, ' $1="./') : token.content
          const href = token.attrGet('href')
          if (token.type === 'image') { // with its size, or the page moves when it is loaded
            const [width, height] = sizeOf(readFileSync(resolve(dirname(env.realPath ?? env.path), token.attrGet('src')!)))
            token.attrSet('width', width)
            token.attrSet('height', height)
          }
          if (token.type === 'link_open' && href) token.attrSet('href', link(href, env.realPath ?? env.path))
        }
      })
    },
  },
  themeConfig: {
    search: { provider: 'local', options: { _render: (src, env, md) => searched(env.relativePath, md.render(src, env)) } },
    outline: [2, 3],
    socialLinks: [{ icon: 'github', link: forge }],
    sidebar: [
      {
        text: 'Begin',
        items: [
          { text: 'Overview', link: '/' },
          { text: 'Start', link: '/start' },
          { text: 'A payment', link: '/payment' },
          { text: 'From hand-written HTTP code', link: '/moving' },
        ],
      },
      {
        text: 'Payments',
        items: [
          { text: 'Outcomes', link: '/outcomes' },
          { text: 'Unknown outcomes', link: '/unknown' },
          { text: 'Tokens and card data', link: '/tokens' },
          { text: 'Notifications', link: '/notifications' },
          { text: 'Refunds', link: '/refunds' },
          { text: 'Subscriptions', link: '/subscriptions' },
          { text: 'Walks', link: '/walks' },
        ],
      },
      {
        text: 'In production',
        items: [
          { text: 'The journal', link: '/journal' },
          { text: 'A shop in production', link: '/program' },
          { text: 'Choosing how to run it', link: '/running' },
          { text: 'Operation', link: '/operation' },
        ],
      },
      {
        text: 'Tools',
        items: [
          { text: 'The sandbox', link: '/sandbox' },
          { text: 'Testing your program', link: '/testing' },
          { text: 'Command-line tool', link: '/tool' },
          { text: 'An example: a shop with pages', link: '/shop' },
        ],
      },
      {
        text: 'Proof',
        items: [
          { text: 'How the promises are checked', link: '/proof' },
          { text: 'Results', link: '/results' },
          { text: 'Benchmarks', link: '/benchmarks' },
          { text: 'Undocumented behaviour', link: '/what-is-not-shown' },
          { text: 'Security', link: '/security' },
        ],
      },
      {
        text: 'Exported names, with examples',
        items: [
          'cardgateway', 'journal', 'journal-sqlite', 'journal-sqlstore', 'journal-journaltest', 'notify', 'sandbox', 'otel', 'temporal',
        ].map((name) => ({ text: name.replace('journal-', 'journal/'), link: `/api/${name}` })),
      },
      {
        text: 'The project',
        items: [
          { text: 'Why each name exists', link: '/names' },
          { text: 'Architecture', link: '/architecture' },
          { text: 'Contributing', link: '/contributing' },
          { text: 'Changelog', link: '/changelog' },
        ],
      },
    ],
  },
})
