// The default theme with the fonts of the reader's system, with a landmark and a search on the page for a wrong address, and with a
// search that is loaded before its button is pressed.
import { withBase } from 'vitepress'
import { h, onMounted } from 'vue'
import searchIndex from '@localSearchIndex'
import Theme from 'vitepress/theme-without-fonts'
import './style.css'

export default {
  extends: Theme,
  Layout: {
    setup() {
      onMounted(() => ['pointerenter', 'focus'].forEach((event) => searchButton()?.addEventListener(event, loadSearch, { once: true })))
      return () => h(Theme.Layout, null, { 'not-found': notFound })
    },
  },
}

const loadSearch = () => void Promise.all([searchIndex.root(), import('vitepress/dist/client/theme-default/components/VPLocalSearchBox.vue')])

const searchButton = () => document.querySelector<HTMLElement>('.VPNavBarSearch button')

const notFound = () =>
  h('main', { class: 'vp-doc not-found' }, [
    h('h1', 'There is no such page'),
    h('p', h('button', { class: 'search', onClick: () => searchButton()?.click() }, 'Search')),
    h('p', h('a', { href: withBase('/') }, 'cardgateway-go')),
  ])
