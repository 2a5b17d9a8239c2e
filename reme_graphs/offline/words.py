"""Which words carry no meaning of their own? Plain lists, in words between white space."""

STOP = """
a about above after again against all almost alone along already also although always am among an and another
any anybody anyone anything anyway are aren around as at away b back be became because become been before behind
being below beside besides between beyond both but by c can cannot could couldn d did didn do does doesn doing
don done down during e each either else enough even ever every everybody everyone everything f far few for
former from further g get gets getting give given go goes going gone gonna gotta got h had hadn has hasn have
haven having he hence her here hers herself him himself his how however i if in indeed instead into is isn it
its itself j just k keep kept kinda l last lately least less let lets like likely lot lots m made make makes
making many may maybe me might mine more most mostly much must my myself n near need needs neither never next no
nobody none nor not nothing now o of off often oh ok okay on once one ones only onto or other others our ours
ourselves out over own p per perhaps please put q quite r rather re really right s said same say says see seem
seemed seems several shall she should shouldn since so some somebody someone something sometimes somewhere soon
still such sure t take taken takes taking than that the their theirs them themselves then there therefore these
they this those though through thus til till to together too toward towards took two u under unless until up
upon us use used using v very via w want wants wanted was wasn way ways we well were weren what whatever when
where whether which while who whole whom whose why will with within without won would wouldn x y yeah yep yes
yet you your yours yourself z ll ve gon wanna dont im ive
"""
"""English words that are never a term."""

GENERAL = """
able absolutely actually add added admit agree ago amazing amount appreciate ask asked attend awesome bad
beautiful begin began best better big bit bring bringing brought bunch busy buy bought call called came care
cause chance change changed chat check cheer choose chose close come comes coming completely congrats consider
cool couple crazy create created creating cute daily date day days deal dear decide decided deep definitely
depend different difficult discuss early easily easy end ended enjoy enjoyed enjoying entire especially etc
event everyday exactly excellent excited exciting experience experienced explore exploring express extra face
fact fantastic favorite feel feeling feelings feels felt fill finally find finding fine first focus follow
following forget forward found free friday fun full future gave glad goal good gorgeous great grow guess guy
guys haha half handle hang happen happened happens happy hard hear heard hello help helped helpful helping helps
hey hi hit hold hope hoping hour hours huge idea ideas imagine important impressive include including incredible
info inspire inspired inspiring interest interested interesting involved join joined journey joy keeping keen
kind kinds knew know known large late later lead learn learned learning leave left life little live lived living
long look looked looking looks loss love loved lovely luck main major manage matter matters mean meaningful
means meant meet meeting mention mind minute moment moments monday month months morning move moving nice night
noted notice number offer old open organize owns part particular pass passion passionate past path people
perfect person pic pics piece place places plan planned planning plans point positive possible post powerful
pretty probably proud provide pursue pursuing push ran reach read ready real realize realized reason receive
recent recently remember remind reminder reminds rest result run running saturday saw second seeing self sense
set share shared sharing show showed shows side simple small sort sound sounds special spend spending spent spot
stand start started starting starts stay step steps stick stop story stories strong stuff stunning suggest
sunday super support supporting supportive supposed surprise sweet talk talked talking tell tells thank thanks
thing things think thinking thought thoughts thursday time times today told tomorrow tonight top totally touch
tough tried true truly try trying tuesday turn turned type understand unique update upset january february march
april may june july august september october november december jan feb mar apr jun jul aug sep sept oct nov dec
mon tue wed thu fri sat sun value visit wait watch wednesday week weekend weeks welcome went wild wish won
wonder wonderful wondering word words work worked working works world worry worth wow wrong year years yesterday
young photo photos picture pictures image journal note notes session conversation user assistant message send
deliver observe compare collect contain block keep wants drive plain simply promise seven two three four five
six eight nine ten hundred thousand million else per cent evening noon difference enlightening rewarding
relaxing thankful grateful honestly switch switched replace replaced prefer preferred prefers avoid hate dislike
decision agreed anymore longer instead correction
"""
"""English words that fit any talk: terms, but never a theme."""

ZH_STOP = """
待办 记为 更正 纠正 新增 我们 你们 他们 她们 它们 咱们 自己 大家 别人 这个 那个 这些 那些 这样 那样 这么 那么 这里 那里
这次 那次 这边 那边 什么 怎么 怎样 怎么样 为什么 哪里 哪个 哪些 多少 几个 一个 一些 一下 一点 一点儿 一起 一样
一直 一定 一般 一种 一次 两个 已经 正在 曾经 刚刚 刚才 现在 目前 以后 以前 之前 之后 之间 之内 以来 以上 以下
以及 以内 当时 同时 今天 明天 昨天 后天 前天 上周 下周 本周 上个月 下个月 这个月 今年 去年 明年 早上 上午 中午
下午 晚上 每天 每周 每次 每个 每月 周一 周二 周三 周四 周五 周六 周日 星期一 星期二 星期三 星期四 星期五 星期六
星期日 礼拜 但是 可是 不过 而且 并且 或者 还是 因为 所以 如果 虽然 然后 于是 因此 由于 为了 关于 对于 根据 按照
通过 经过 除了 只有 只要 无论 不管 即使 尽管 可以 可能 应该 需要 必须 能够 愿意 想要 希望 打算 准备 觉得 认为
知道 发现 感觉 喜欢 不喜欢 最喜欢 喜爱 讨厌 偏好 习惯 记得 请记得 记住 请记住 忘记 不要 不会 不能 不用 不是 没有
没法 不再 不想 改成 改为 换成 改用 决定 确定 选择 采用 使用 计划 开始 结束 完成 进行 继续 负责 处理 提供 包括
非常 特别 比较 更加 最近 最后 首先 其次 另外 此外 总之 其实 当然 确实 真的 好的 谢谢 感谢 请问 麻烦 没问题
不客气 可以吗 一下子 时候 东西 事情 问题 方面 情况 时间 地方 发给 告诉 帮我 给我 还有 还要 就是 只是 都是 也是
又是 是否 能否 不错 很好 很多 许多 所有 任何 其他 其它 有点 有些 有时 总是 经常 从来 再次 重新 改喝 改吃 都会
会议 今后 那种 这种 起来 出来 下来 上去 过来 过去 一律 统一 先后 我 你 您 他 她 它 的 了 着 过 是 在 有 和 与 及
或 而 但 就 都 也 还 又 再 很 太 更 最 挺 蛮 不 没 别 请 把 被 让 给 对 从 向 往 到 于 以 为 因 由 跟 同 比 按
将 会 能 可 要 想 得 地 吧 吗 呢 啊 哦 嗯 呀 啦 嘛 哈 这 那 哪 谁 几 多 少 每 各 某 该 此 其 之 等 们 个 些 种
次 件 条 只 点 上 下 里 中 内 外 前 后 时 去 来 说 讲 做 用 叫 喝 吃 买 才 刚 先 已 所 并 且 若 则
"""
"""Chinese words between which the content words stand."""

ZH_WORDS = """
上报 上线 上传 上限 上海 更新 更换 下载 下线 下限 中心 中文 中国 中间 同步 同事 后端 后台 前端 前台 地址 地区
场地 基地 目标 时区 定时 超时 实时 即时 分钟 小时 时钟 能力 功能 性能 对象 对账 从库 主从 以太网 可用 可靠 要求
要点 需要量 得分 会员 社会 会话 想法 买家 卖家 做市 用户 用量 专用 应用 使用率 通用 费用 信用 作用 说明 小说
说法 讲座 用例 叫车 喝水 吃饭 吃药 饮料 过敏 过滤 通过率 和平 并发 并行 合并 或许 与会 给水 让步 被子 把手 个人
个性 件数 硬件 软件 固件 条件 邮件 文件 组件 事件 附件 案件 零件 插件 证件 条目 条款 种子 种植 品种 次数 批次
版次 层次 点位 节点 要素 重点 地点 站点 优点 缺点 里程 公里 外部 外包 内部 内存 内容 国内 国外 前缀 后缀 售后
时长 去重 来源 未来 来电 自来水 先锋 优先 只读 所有权 研究所 规则 原则 其他人 之江 等级 等待 们 些许 多云 多线程
少年 几何 很久 太阳 最小 最大 挺好 不锈钢 不良 没收 别名 级别 类别 分别 请求 申请 向量 方向 到期 达到 于是 为期
因子 原因 由来 自由 理由 路由 跟踪 同学 比例 对比 比赛 按钮 将军 可视 想象 地图 土地 谁人 这厢 每日 某些 该死
此刻 过程 过期 着色 的士 目的 了解 发布 分布 更高
"""
"""Chinese words that hold a stop word's letter and yet carry meaning."""

NOT_QUALITY = """
family reply supply july italy jelly ally belly fly assembly monthly anomaly bed shed sled seed feed speed breed need
table vegetable cable test forest guest request harvest interest nest chest quest west east priest contest protest
handful mouthful wireless united
"""
"""English nouns that end like adverbs, adjectives or participles."""

DETERMINERS = """
a an the my our his her their this that of in for at with some into about your its new on and no any
learning using use playing making
"""
"""English words before which a noun is likely."""

ABBREVIATIONS = """
mr mrs ms dr prof st sr jr vs etc approx dept est fig figs no vol inc ltd co corp e.g i.e a.m p.m u.s u.k ph.d cf al
ca pp resp jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun ver rev ext tel
"""
"""Words whose full stop does not end a sentence."""

FINAL_ABBREVIATIONS = """etc a.m p.m u.s u.k ph.d inc ltd co corp jr sr"""
"""Abbreviations that may also end a sentence; a capital letter after them decides."""

JA_KO_STOP = """
です ます でした ました ません ている ていて ています する した して こと もの から ので より たち さん など
まで だけ けど という について ください ある あり いる なる は が を に で と も の へ や か ね よ ない なく
습니다 합니다 입니다 했습니다 됩니다 있습니다 없습니다 하기로 에서 에게 으로 우리는 저는 제가 우리 정말 그리고
"""

OTHER_LATIN = """
ich wir nicht und ist sind haben habe wird werden mit für auf dass weil der das dem den ein eine einen von zu zum zur
im bei auch nur aber oder unser unsere mein meine nous je est sont les une dans pour avec pas sur mais parce notre nos
mon ma mes qui ce cette aux avons ai el los las una para por porque nosotros estamos somos está es con del mi nuestro
nuestra pero como yo il lo gli che sono perché abbiamo noi della nel questo questa anche não uma nós temos são também
com meu minha isso het een niet ik wij zijn voor maar omdat naar onze mijn jag och inte är att som vi för har det ett
jest nie się na że mamy jako dla ale
"""
"""Words that are frequent in another language of Latin letters and rare in English."""
