"""Common English words by class, by which rules for heteronyms and for phrases examine a word's context."""

from __future__ import annotations

from text.words.word import word_list

SUBJECTS = word_list("i you he she it we they who there what nobody everybody everyone someone anyone somebody")
PRONOUNS = SUBJECTS | word_list(
    "me him us them myself yourself himself herself itself ourselves themselves one mine yours"
)
POSSESSIVES = word_list("my your his her its our their whose")
DETERMINERS = word_list(
    "the a an this that these those every each some any no another all both either neither many few several most"
)
MODALS = word_list(
    "can could will would shall should may might must can't couldn't won't wouldn't shan't shouldn't mightn't mustn't "
    "cannot i'll you'll he'll she'll it'll we'll they'll i'd you'd he'd she'd we'd they'd let's gonna wanna"
)
DO = word_list("do does did don't doesn't didn't")
BE = word_list(
    "is are was were be been being am isn't aren't wasn't weren't i'm you're he's she's it's we're they're that's "
    "what's there's who's get gets got getting gotten"
)
HAVE = word_list("have has had having haven't hasn't hadn't i've you've we've they've could've would've should've")
SEEM = word_list(
    "seem seems seemed look looks looked feel feels felt stay stays stayed remain remains remained become becomes "
    "became sound sounds sounded grow grew keep keeps kept"
)
PREPOSITIONS = word_list(
    "of in on at by for with from into onto about over under between through during before after against without "
    "within along across behind beyond near among around above below beside besides off than as per via like upon "
    "toward towards until till since despite except inside outside up down out amid throughout"
)
SUBORDINATORS = word_list(
    "if when while because although though unless whether where why how once that whenever wherever"
)
CONJUNCTIONS = word_list("and or but nor so yet")
ADVERBS = word_list(
    "not never always often also just only really very too still already soon now then here there today tomorrow "
    "yesterday again ever once twice almost quite rather perhaps maybe please even far away alone together back "
    "instead hardly sometimes usually probably certainly simply actually finally well both n't longer seldom rarely"
)
ADJECTIVES = word_list(
    "big small large little long short high low old new young good bad great best better worst worse early late hot "
    "cold warm cool dry wet fresh free full empty easy hard soft strong weak rich poor fast slow quick heavy light "
    "dark bright deep wide narrow thick thin happy sad angry busy quiet loud clean dirty clear sharp red blue green "
    "yellow black white brown grey gray pink purple golden silver wooden own same other different next last first "
    "second third real true false whole main public private local national foreign medical legal social political "
    "common special strange rare sweet bitter secret single double final total fair safe modern ancient famous huge "
    "tiny open online digital daily annual recent raw organic criminal valuable internal external"
)
PAST_VERBS = word_list(
    "said went made took came saw knew got gave found thought told became left felt put brought began kept held wrote "
    "stood heard let meant set met ran paid sat spoke lay led grew lost fell sent built understood drew broke spent "
    "cut rose drove bought wore chose ate drank slept sang flew threw caught taught fought won sold hid shot hit hurt "
    "shut blew forgot swam rode woke shook stole struck swore tore"
)
BASE_VERBS = word_list(
    "go make take come see know give find think tell leave feel bring begin keep hold write stand hear let mean set "
    "meet run pay sit speak lead grow lose fall send build understand draw break spend cut rise drive buy wear choose "
    "eat drink sleep sing fly throw catch teach fight win sell want need try ask say work seem help start turn move "
    "believe happen include continue learn follow stop add allow require offer remember love consider appear serve "
    "expect kill remain suggest raise pass decide pull return explain hope develop carry reach receive agree enjoy "
    "wait watch talk play walk open look call show get provide create prefer avoid ensure contain"
)
PLURALS = word_list("people children men women police many most some both all few")
BEFORE_CLAUSES = word_list(
    "say says said saying think thinks thought thinking know knows knew known believe believes believed mean means "
    "meant suggest suggests suggested show shows showed shown argue argues argued arguing claim claims claimed hope "
    "hopes hoped feel feels felt find found learn learned learnt tell told ensure ensures ensured agree agreed "
    "decide decided insist insisted note noted realize realized realise realised recognise recognised recognize "
    "recognized state stated stating admit admitted suppose assume assumed imagine imagined prove proved proven "
    "conclude concluded announce announced explain explained remember remembered forget forgot notice noticed see "
    "given provided so such now namely idea fact view belief claim argument assumption hope sense danger except "
    "sure certain clear"
)
"""Words before a clause that "that" opens."""

POINTED = word_list("particular kind sort same year day time moment way evening night week month place point one")
"""Words before which "that" points at something."""

STATES = word_list("is was isn't wasn't has had will would could can may might must")
"""Finite verbs of which "that" is the subject after a conjunction or a pause."""
